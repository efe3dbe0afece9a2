// Package link imports things from URLs: the pages of things of another Meshyard or of a service
// with the legacy REST API, data packages, ZIP archives and single files.
//
// An import is a row. [Store.Work] claims it, downloads all files into a temporary file without a
// name, and then imports the things as an import of a folder does. The row shows the progress. If
// the process dies, another one claims the row and starts again; what it finds imported, it leaves.
package link

import (
	"context"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/remote"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/importer"
)

// Options are settings of the operator.
type Options struct {
	// Open finds out what a URL leads to, with a token of the service or "". attempts is the maximum
	// number at each request; 0 is the default. Open is nil if imports from URLs are turned off.
	Open         func(ctx context.Context, address, token string, attempts int) (*remote.Source, error)
	AllowPrivate bool // Open connects to private addresses, too
}

// Store has the operations on imports from URLs.
type Store struct {
	core     *models.Store
	importer *importer.Store
	options  Options

	wake       chan struct{} // an import may be due
	previewing sync.Mutex
	users      map[int64]bool // for whom a preview is being made
}

// New adds imports from URLs to the core.
func New(core *models.Store, im *importer.Store, options Options) *Store {
	s := &Store{core: core, importer: im, options: options, wake: make(chan struct{}, 1), users: map[int64]bool{}}
	core.DB.Register((*Import)(nil), (*linkThing)(nil))
	core.Expire("imports from URLs", s.expire)
	return s
}

// State is the state of an import.
type State string

// The states of an import.
const (
	Waiting  State = "waiting"
	Running  State = "running"
	Done     State = "done"
	Failed   State = "failed"
	Canceled State = "canceled"
)

// Import is an import of things from a URL.
type Import struct {
	bun.BaseModel `bun:"table:link_imports,alias:li"`

	ID         int64 `bun:",pk,autoincrement"`
	UserID     int64
	URL        string `bun:"url"`
	Token      string // of the other service
	Category   string
	State      State
	Error      string
	Runner     string
	Attempts   int64
	FilesTotal int64
	FilesDone  int64
	BytesTotal int64
	BytesDone  int64
	Skipped    []Skip `bun:"type:jsonb"`
	CreatedAt  time.Time
	BeatAt     *time.Time
	FinishedAt *time.Time
}

// NodeID returns the node ID of the import.
func (i *Import) NodeID() string { return models.NodeRef{Type: "LinkImport", ID: i.ID}.NodeID() }

// Skip is a file that becomes no part of a thing.
type Skip struct{ Path, Reason string }

// linkThing is a thing that an import created.
type linkThing struct {
	bun.BaseModel `bun:"table:link_things,alias:lt"`

	ThingID  int64 `bun:",pk"`
	Source   string
	ImportID int64
}

// kept is how long a finished import is kept.
const kept = 30 * 24 * time.Hour

func (s *Store) expire(ctx context.Context) error {
	_, err := s.core.DB.Write.NewDelete().Model((*Import)(nil)).Where("finished_at < ?", models.Now().Add(-kept)).Exec(ctx)
	return err
}
