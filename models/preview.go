package models

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/image/thumbnail"
	"github.com/meshyard/meshyard/internal/preview"
)

// PreviewState is the state of a preview.
type PreviewState string

// The states of a preview. Done and failed previews stay so until the pipeline changes.
const (
	PreviewWaiting PreviewState = "waiting"
	PreviewRunning PreviewState = "running"
	PreviewDone    PreviewState = "done"
	PreviewFailed  PreviewState = "failed"
)

// Preview is everything that is derived from a content when it is interpreted as a certain subject.
// All files with the same content and subject share it.
type Preview struct {
	bun.BaseModel `bun:"table:previews,alias:p"`

	ID       int64           `bun:",pk,autoincrement"`
	SHA256   string          `bun:"sha256"` // of the content, hex
	Subject  preview.Subject // what the content is interpreted as
	Version  int32           // of the pipeline
	State    PreviewState
	Stage    string
	Progress float64 // 0 to 1
	Error    string  // what failed, for the owner of a file
	// Why it failed; empty if a version without reasons made it fail.
	Reason      preview.Reason
	OwnerID     int64 // of the first file that requested it, for fair scheduling
	Attempts    int32
	Outages     int32      // how many of the last attempts an outage ended; they do not count
	BegunAt     *time.Time // when the last attempt started
	TookMS      int64      `bun:"took_ms"` // the duration of the last attempt so far
	BeatAt      time.Time  // the last heartbeat of the worker; while waiting, when it may start
	ImageFormat string     `bun:"picture"` // png or jpg; empty if there is no image
	Width       int32      // of the image
	Height      int32
	Threejs     bool
	GLB         bool          `bun:"glb"`
	Mesh        *preview.Mesh `bun:"type:jsonb"`
	// What slicers say in the file; nil if they say nothing.
	Printing *preview.Printing `bun:"type:jsonb"`
	// Shared by meshes of the same shape; 0 if there is no mesh, or not assigned yet.
	ShapeID int64 `bun:",nullzero"`
}

var previews = database.NewTable(func(p *Preview) (int64, *database.Listed) { return p.ID, nil })

// Key returns the object key of a part of the preview.
func (p *Preview) Key(part string) string {
	return bucket.DerivedKey(p.SHA256, p.Subject.PartName(p.Version, part))
}

// IsEmpty reports whether the preview is finished and has no parts, because the file has nothing to
// show, such as G-code without an image. What slicers say in it can be known nevertheless.
func (p *Preview) IsEmpty() bool { return p.State == PreviewDone && len(p.Parts()) == 0 }

// Tag identifies the content of all parts: a URL that contains it never changes its content.
func (p *Preview) Tag() string { return fmt.Sprintf("%s-%s-%d", p.SHA256[:16], p.Subject, p.Version) }

// SubjectOf returns what the preview of a file is made of, or "" if it gets none.
func (s *Store) SubjectOf(f *File) preview.Subject {
	return preview.SubjectOf(f.Name, f.ContentType, s.Options.Previews.Converter != nil)
}

// SchedulePreview ensures in tx that a preview of a file's content exists or will be generated, and
// returns its ID and state, or 0 if there are no previews of such files. tx must have locked the
// row of the content.
func (s *Store) SchedulePreview(ctx context.Context, tx bun.Tx, f *File) (int64, PreviewState, error) {
	subject := s.SubjectOf(f)
	if subject == "" {
		return 0, "", nil
	}
	p := &Preview{SHA256: f.SHA256, Subject: subject, Version: preview.Version, State: PreviewWaiting, OwnerID: f.OwnerID,
		BeatAt: Now()}
	_, err := tx.NewInsert().Model(p).On("CONFLICT (sha256, subject) DO UPDATE").Set("subject = EXCLUDED.subject").
		Returning("id, state").Exec(ctx)
	return p.ID, p.State, err
}

// ReadPreview returns a preview without its mesh and what slicers say. It returns NotFound if there
// is no such preview.
func (s *Store) ReadPreview(ctx context.Context, id int64) (*Preview, error) {
	return One(s, ctx, auth.Caller{}, previews, previews.All().Without(fieldset.Of[Preview]("Mesh", "Printing")),
		"preview", id)
}

// Parts returns the parts of a finished preview, without the image sizes that are generated on
// demand.
func (p *Preview) Parts() []preview.Part {
	var parts []preview.Part
	if p.ImageFormat != "" {
		parts = append(parts, preview.ImagePart(thumbnail.Full, p.ImageFormat))
	}
	if p.Threejs {
		parts = append(parts, preview.Threejs)
	}
	if p.GLB {
		parts = append(parts, preview.GLB)
	}
	return parts
}
