package models

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/preview"
)

// PreviewState is how far the work on a preview is.
type PreviewState string

// The states of a preview. Done and failed ones stay so until the pipeline changes.
const (
	PreviewWaiting PreviewState = "waiting"
	PreviewRunning PreviewState = "running"
	PreviewDone    PreviewState = "done"
	PreviewFailed  PreviewState = "failed"
)

// Preview is what was, or is to be, derived of a content that is taken for something: once, however
// many files hold it.
type Preview struct {
	bun.BaseModel `bun:"table:previews,alias:p"`

	ID       int64           `bun:",pk,autoincrement"`
	SHA256   string          `bun:"sha256"` // of the content, hex
	Subject  preview.Subject // what the content is taken for
	Version  int32           // of the pipeline
	State    PreviewState
	Stage    string
	Progress float64 // 0 to 1
	Error    string  // why there is nothing, for the owner of a file to read
	OwnerID  int64   // of the file that first wanted it, who waits for a turn
	Attempts int32
	BegunAt  *time.Time // when the last attempt began
	TookMS   int64      `bun:"took_ms"` // how long the last attempt took, so far
	BeatAt   time.Time  // the last sign of whoever works on it; of one that waits, when it may begin
	Picture  string     // how the picture is written, png or jpg; empty: there is none
	Width    int32      // of the picture
	Height   int32
	Threejs  bool
	GLB      bool          `bun:"glb"`
	Mesh     *preview.Mesh `bun:"type:jsonb"`
	// shared by meshes of the same shape; 0: no mesh, or not assigned yet
	ShapeID int64 `bun:",nullzero"`
}

// Key is the key of a part in the bucket.
func (p *Preview) Key(part string) string {
	return bucket.DerivedKey(p.SHA256, p.Subject.Name(p.Version, part))
}

// Tag names the bytes of all parts: what is at an address that carries it never changes.
func (p *Preview) Tag() string { return fmt.Sprintf("%s-%s-%d", p.SHA256[:16], p.Subject, p.Version) }

// PreviewsByID gives the previews of those ids.
func (s *Store) PreviewsByID(ctx context.Context, ids []int64) (map[int64]*Preview, error) {
	return byID(ctx, s.db, ids, func(rows *[]*Preview) *bun.SelectQuery { return s.db.read.NewSelect().Model(rows) }, "p.id", func(p *Preview) int64 { return p.ID })
}

// wantPreview makes sure, in tx, that there is or will be a preview of a file's content, whose row
// tx has locked, and returns its id; 0 if no preview is made of such files.
func (s *Store) wantPreview(ctx context.Context, tx bun.Tx, f *File) (int64, error) {
	subject := preview.SubjectOf(f.Name, f.ContentType)
	if subject == "" {
		return 0, nil
	}
	p := &Preview{SHA256: f.SHA256, Subject: subject, Version: preview.Version, State: PreviewWaiting, OwnerID: f.OwnerID, BeatAt: now()}
	_, err := tx.NewInsert().Model(p).On("CONFLICT (sha256, subject) DO UPDATE").Set("subject = EXCLUDED.subject").Returning("id, state").Exec(ctx)
	if err == nil && p.State == PreviewFailed { // for other files of the same content
		err = notify(ctx, tx, NotifyProcessingFailed, 0, Target{OnFile, f.ID}, f.OwnerID)
	}
	return p.ID, err
}
