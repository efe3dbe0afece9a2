// Package models holds the nouns of Meshyard, their rules and their queries. Every exported method
// that writes opens its own transaction; every one that a caller may use takes that caller and
// applies the rules of ownership.
package models

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/coalesce"
	"github.com/meshyard/meshyard/internal/preview/child"
)

// Options are what an operator sets.
type Options struct {
	UploadLimit  int64         // bytes of one file
	PictureLimit int64         // bytes of one picture
	PendingTTL   time.Duration // how long a pending upload waits to be finalized
	Quotas       Quotas
	Previews     child.Runner // makes previews in child processes
	// PreviewWorkers is how many previews this process makes at once; see [Store.MakePreview].
	PreviewWorkers int
	Reserved       func(username string) bool // names that no new user may have; nil: none
}

// Work is one piece of work that a change causes, kept in the change's own transaction.
type Work struct {
	ExpireUpload int64     // the id of a pending upload that is to go
	At           time.Time // not before; zero: now
}

// Store is the catalogue: rows in a database and bytes in a bucket.
type Store struct {
	db        *DB
	bucket    *bucket.Bucket
	options   Options
	enqueue   func(ctx context.Context, tx bun.Tx, work Work) error
	files     *batcher[int64, *File]
	downloads downloadLog
	tokens    *tokenCache
	usage     usage
	cuts      coalesce.Group[error] // of pictures into sizes, by key
	cutters   chan struct{}         // holds one for each at work
	renderer  *renderer             // of Markdown
	making    previewTurns
}

// NewStore makes a store of a migrated database and a bucket. enqueue keeps work in the transaction
// it is given.
func NewStore(db *DB, b *bucket.Bucket, options Options, enqueue func(ctx context.Context, tx bun.Tx, work Work) error) *Store {
	s := &Store{db: db, bucket: b, options: options, enqueue: enqueue, tokens: newTokenCache(), cutters: make(chan struct{}, cuttersAtOnce), renderer: newRenderer()}
	s.files = newBatcher(s.FilesByID)
	s.downloads.insert = s.insertDownloads
	return s
}

// Ready returns an error if the database or the bucket does not respond, or if a disk of either is
// nearly full.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.db.Ready(ctx); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	if err := s.db.checkSpace(); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	return s.bucket.Ready(ctx)
}

type secret struct {
	bun.BaseModel `bun:"table:secrets"`

	Name  string `bun:",pk"`
	Value []byte
}

// Secret gives the named 256 random bits that all nodes of the database share, made on first use.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	fresh := make([]byte, 32)
	rand.Read(fresh)
	row := secret{Name: name, Value: fresh}
	if _, err := s.db.write.NewInsert().Model(&row).On("CONFLICT (name) DO NOTHING").Exec(ctx); err != nil {
		return nil, err
	}
	err := s.db.write.NewSelect().Model(&row).WherePK().Scan(ctx)
	return row.Value, err
}
