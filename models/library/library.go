// Package library reads libraries: folders of the operator whose files become files of things and
// are served from where they lie. Nothing is ever written to them.
//
// A scan compares a library with the rows of the database. It reads all folders, and the files of
// those places (see [layout.Place]) that have changed. It commits a few places at a time, and
// stores a fingerprint of each, so a scan that was interrupted continues where it ended. Hashes of
// contents are computed afterwards; see [Store.Read].
package library

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// Folder is a library that the operator has configured.
type Folder struct {
	Name string
	Dir  string // absolute path
}

// Options are settings of the operator.
type Options struct {
	Folders []Folder
	Owner   string // the username of the owner of new things; "" is the first administrator
	Publish bool   // publish new things that have a model and a known license
}

// Store has the operations on libraries.
type Store struct {
	core    *models.Store
	options Options
}

// New adds libraries to the core.
func New(core *models.Store, options Options) *Store {
	core.DB.Register((*Library)(nil), (*place)(nil), (*libraryThing)(nil))
	return &Store{core, options}
}

// Folders returns the libraries that the operator has configured.
func (s *Store) Folders() []Folder { return s.options.Folders }

// folder returns a configured library.
func (s *Store) folder(name string) (Folder, error) {
	for _, f := range s.options.Folders {
		if f.Name == name {
			return f, nil
		}
	}
	return Folder{}, models.Fail(models.NotFound, "library %.60q is not among the settings: set --library %.60s=DIR",
		name, name)
}

// Library is a library with the state of its last scan.
type Library struct {
	bun.BaseModel `bun:"table:libraries,alias:l"`

	ID          int64 `bun:",pk,autoincrement"`
	Name        string
	Scanner     string // the scan in progress; empty: none
	BeatAt      *time.Time
	RequestedAt *time.Time
	StartedAt   *time.Time
	FinishedAt  *time.Time // nil: the scan is in progress, or was interrupted
	Error       string
	Places      int64 // that the last scan found changed
	PlacesDone  int64 // that it has stored
	Counts
}

// Counts are what a scan found and did.
type Counts struct {
	FilesFound   int64
	FilesRead    int64 // of the places that had changed
	ThingsAdded  int64
	FilesAdded   int64
	FilesChanged int64
	FilesMoved   int64
	FilesMissing int64 // that were not missing before
}

// place is a part of a library that a scan reads at once.
type place struct {
	bun.BaseModel `bun:"table:library_places,alias:lp"`

	LibraryID   int64
	Path        string // escaped
	Kind        string
	Fingerprint int64
	Skipped     int64
	Skips       string // JSON of []Skip
}

// Skip is an entry of a library that becomes no part of a thing.
type Skip struct {
	Path   string `json:"path"` // escaped
	Reason string `json:"reason"`
}

// libraryThing is a thing of a library.
type libraryThing struct {
	bun.BaseModel `bun:"table:library_things,alias:lt"`

	LibraryID int64
	Source    string // the path of the folder or of the first loose file, escaped
	PlacePath string
	PlaceKind string
	ThingID   *int64 // nil: someone deleted the thing
}

// row returns the row of a library, which it creates if there is none.
func (s *Store) row(ctx context.Context, name string) (*Library, error) {
	_, err := s.core.DB.Write.NewInsert().Model(&Library{Name: name}).On("CONFLICT (name) DO NOTHING").Exec(ctx)
	if err != nil {
		return nil, err
	}
	l := new(Library)
	err = s.core.DB.Write.NewSelect().Model(l).Where("l.name = ?", name).Scan(ctx)
	return l, err
}

// owner returns the caller who owns new things.
func (s *Store) owner(ctx context.Context) (auth.Caller, error) {
	u := new(models.User)
	q := s.core.DB.Write.NewSelect().Model(u).Column("u.id", "u.is_admin")
	if s.options.Owner != "" {
		found, err := s.core.Admin().User(ctx, s.options.Owner)
		if err != nil {
			return auth.Caller{}, fmt.Errorf("--library-owner: %w", err)
		}
		u = found
	} else if err := q.Where("u.is_admin AND u.suspended_at IS NULL").Order("u.id").Limit(1).
		Scan(ctx); errors.Is(err, sql.ErrNoRows) {
		return auth.Caller{},
			models.Fail(models.Conflict, "there is no administrator to own the things of libraries: set --library-owner")
	} else if err != nil {
		return auth.Caller{}, err
	}
	return auth.Caller{UserID: u.ID, Role: u.Role(), Scopes: auth.Scopes{auth.Read, auth.Write}}, nil
}
