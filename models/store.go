// Package models contains the objects of Meshyard, their rules and their queries: things, files,
// makes, comments, collections, users, and what belongs to them. [Store] has the operations for
// requests, and [Admin] those of the command line.
//
// Methods of a Store that act for a user have a parameter of type [auth.Caller] and check what it
// permits. Every exported method that writes opens its own transaction. It returns an [Error],
// whose message may be shown to clients, if the input or the state is at fault. Any other error is
// internal, or means an outage, which package outage recognizes.
//
// The package depends on the database, the bucket and packages for single tasks, such as tokenize
// and markdown. It must not depend on HTTP or GraphQL; a test in package archtest enforces this.
package models

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/preview/child"
)

// Options are settings of the operator.
type Options struct {
	UploadLimit int64         // bytes of one file
	ImageLimit  int64         // bytes of one image
	PendingTTL  time.Duration // lifetime of a pending upload
	KeepDeleted time.Duration // how long the content of deleted files is kept
	ThingFiles  int           // files of one thing; 0: DefaultThingFiles
	Quotas      Quotas
	Previews    child.Runner // generates previews in child processes
	// PreviewWorkers is the number of previews that this process generates concurrently.
	PreviewWorkers int
	Reserved       func(username string) bool // whether new users cannot have a name; nil: no name
	// SendsMail reports whether the server sends mail, and OpenRegistration whether visitors may
	// create an account without a link.
	SendsMail, OpenRegistration bool
	Events                      Events
}

// DefaultThingFiles is the default of Options.ThingFiles.
const DefaultThingFiles = 10_000

// MaxFilesOf returns the maximum number of files of a target.
func (s *Store) MaxFilesOf(on TargetType) int {
	if on == OnThing {
		return cmp.Or(s.Options.ThingFiles, DefaultThingFiles)
	}
	return MaxFiles
}

// Events are callbacks, for metrics. Each is called after the event that its name describes, and
// may be nil.
type Events struct {
	Uploaded   func(bytes int64)
	Downloaded func()
	// Previewed gets the outcome of an attempt: "done", "failed", "retried" or "released".
	Previewed func(outcome string, took time.Duration)
}

// Work is a background job that is stored in the transaction of the change that causes it.
type Work struct {
	ExpireUpload   int64     // the ID of a pending upload that expires
	PurgeAccount   int64     // the ID of a deleted user whose objects are to be deleted
	DeliverWebhook int64     // the ID of a webhook that has messages
	DrivePrinter   int64     // the ID of a printer that has prints
	FinishUpdate   int64     // the ID of a bulk update that can no longer be undone
	Mail           *Mail     // a mail to write and send
	At             time.Time // the earliest time; zero: now
}

// Store is the catalogue: rows in a database and objects in a bucket.
type Store struct {
	Reactions

	DB       *DB
	Bucket   *bucket.Bucket
	Options  Options
	Enqueue  func(ctx context.Context, tx bun.Tx, work Work) error
	files    *fileBatcher
	renderer *renderer // of Markdown

	replicaFiles *fileBatcher // of reads from the replica

}

// NewStore returns a store on a migrated database and a bucket. enqueue stores jobs in the given
// transaction.
func NewStore(db *DB, b *bucket.Bucket, options Options, enqueue func(ctx context.Context, tx bun.Tx,
	work Work) error) *Store {
	s := &Store{DB: db, Bucket: b, Options: options, Enqueue: enqueue, renderer: newRenderer()}
	s.files, s.replicaFiles = &fileBatcher{read: s.FilesByID}, &fileBatcher{read: s.FilesByID}
	return s
}

// DatabaseReady returns an error if the database does not respond, if PostgreSQL or the disk of a
// SQLite database is read-only, or if that disk is nearly full. It returns ErrNewer if a newer
// version has migrated the database since the start.
func (s *Store) DatabaseReady(ctx context.Context) error {
	if err := s.DB.Ready(ctx); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	if err := s.DB.CheckDisk(); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	if err := s.DB.CheckPrimary(ctx, "schema_migrations"); err != nil {
		return fmt.Errorf("database: %w", database.Explain(err))
	}
	if _, err := s.DB.Pending(ctx); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	return nil
}

// BucketReady returns an error if the bucket does not respond, or if the disk of a bucket directory
// is read-only or nearly full.
func (s *Store) BucketReady(ctx context.Context) error { return s.Bucket.Ready(ctx) }

type SecretRow struct {
	bun.BaseModel `bun:"table:secrets"`

	Name  string `bun:",pk"`
	Value []byte
}

// Secret returns the named secret of 256 random bits that all nodes of the database share. It is
// created on first use.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	fresh := make([]byte, 32)
	rand.Read(fresh)
	row := SecretRow{Name: name, Value: fresh}
	if _, err := s.DB.Write.NewInsert().Model(&row).On("CONFLICT (name) DO NOTHING").Exec(ctx); err != nil {
		return nil, err
	}
	err := s.DB.Write.NewSelect().Model(&row).WherePK().Scan(ctx)
	return row.Value, err
}
