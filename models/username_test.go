package models

import (
	"context"
	"slices"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/pgtest"
)

// turkish returns an empty PostgreSQL database in whose locale the lower case of I is ı.
func turkish(t *testing.T) *DB {
	t.Helper()
	db, err := OpenDB(t.Context(), pgtest.Localized(t, "tr-TR"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestUsernamesInTurkish checks that usernames are unique, and are found, in any case of their
// letters, whatever the locale of the database is.
func TestUsernamesInTurkish(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), turkish(t)
	if _, err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	s := NewStore(db, nil, Options{}, func(context.Context, bun.Tx, Work) error { return nil })
	u, err := s.Admin().CreateUser(ctx, "ADMIN-I", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"admin-i", "Admin-I", "ADMIN-I"} {
		if _, err := s.Admin().CreateUser(ctx, name, false); CodeOf(err) != Conflict {
			t.Errorf("create %s: got %v, want %s", name, err, Conflict)
		}
		if found, err := s.User(ctx, auth.Caller{}, UserAccess, name); err != nil || found.Username != u.Username {
			t.Errorf("user %s: got %v, %v, want %s", name, found, err, u.Username)
		}
		if taken, err := s.UsersNamed(ctx, []string{FoldUsername(name)}); err != nil ||
			!slices.Equal(taken, []string{u.Username}) {
			t.Errorf("users named %s: got %q, %v, want %s", name, taken, err, u.Username)
		}
	}
	for _, name := range []string{"admın-ı", "ADMİN-İ", "\u212Aim"} {
		if _, err := s.User(ctx, auth.Caller{}, UserAccess, name); CodeOf(err) != NotFound {
			t.Errorf("user %s: got %v, want %s", name, err, NotFound)
		}
	}
}
