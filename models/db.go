package models

import (
	"context"
	"database/sql"
	"time"

	"github.com/meshyard/meshyard/internal/database"
)

// DB is a database with the tables of this package.
type DB struct{ *database.DB }

// OpenDB opens the database at address, sqlite:PATH or postgres://…, and checks that it responds.
func OpenDB(ctx context.Context, address string) (*DB, error) {
	db, err := database.Open(ctx, address)
	if err != nil {
		return nil, err
	}
	db.Register(tables...)
	return &DB{db}, nil
}

// tables are the types of the rows of all tables.
var tables = []any{
	(*ArchiveID)(nil), (*ArchiveImport)(nil), (*Category)(nil), (*Collection)(nil),
	(*CollectionThing)(nil), (*Comment)(nil), (*Content)(nil), (*countChange)(nil), (*File)(nil),
	(*ImportRow)(nil), (*Make)(nil), (*ModerationEntry)(nil),
	(*Preview)(nil), (*SecretRow)(nil), (*Tag)(nil), (*Thing)(nil), (*thingAncestor)(nil),
	(*thingTag)(nil), (*User)(nil),
}

// ExecAgain runs a statement that locks several rows, and returns how many rows it has changed. It
// runs the statement again if PostgreSQL aborts it because of a conflict, as InTx does.
func (db *DB) ExecAgain(ctx context.Context, q interface {
	Exec(ctx context.Context, dest ...any) (sql.Result, error)
}) (changed int64, err error) {
	err = database.RetryConflicts(func() error {
		done, err := q.Exec(ctx)
		if err == nil {
			changed, err = done.RowsAffected()
		}
		return err
	})
	return changed, err
}

// The types of lists; see package database.
type (
	List     = database.List
	Slice    = database.Slice
	Position = database.Position

	Page[T any]  = database.Page[T]
	Entry[T any] = database.Entry[T]
)

// Now returns the current time in UTC, truncated to microseconds, the precision that both engines
// store.
func Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
