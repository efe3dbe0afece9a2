package models

import (
	"context"
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
	return &DB{db}, nil
}

// The types of lists; see package database.
type (
	List     = database.List
	Page     = database.Page
	Slice    = database.Slice
	Entry    = database.Entry
	Position = database.Position

	JoinedPage[O any] = database.JoinedPage[O]
)

// now returns the current time in UTC, truncated to microseconds, the precision that both engines
// store.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
