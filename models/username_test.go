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
		if taken, err := s.UsersNamed(ctx, []string{foldUsername(name)}); err != nil || !slices.Equal(taken, []string{u.Username}) {
			t.Errorf("users named %s: got %q, %v, want %s", name, taken, err, u.Username)
		}
	}
	for _, name := range []string{"admın-ı", "ADMİN-İ", "\u212Aim"} {
		if _, err := s.User(ctx, auth.Caller{}, UserAccess, name); CodeOf(err) != NotFound {
			t.Errorf("user %s: got %v, want %s", name, err, NotFound)
		}
	}
}

// TestSameUsernamesAreRenamed checks that the migration renames users whose names earlier versions
// took for different ones, and records it.
func TestSameUsernamesAreRenamed(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), turkish(t)
	all, err := db.Pending(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all[:slices.Index(all, uniqueMigration)] {
		runMigration(t, db, name, name)
	}
	if _, err := db.SQL().ExecContext(ctx, "INSERT INTO users (id, username, is_admin, created_at) VALUES "+
		"(1, 'ADMIN', false, now()), (2, 'admin', false, now()), (3, 'ada', false, now())"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]string{
		"SELECT username FROM users ORDER BY id": {"ADMIN", "admin-2", "ada"},
		"SELECT user_id || ' ' || action || ' ' || reason FROM moderation_log": {
			"2 rename_user The name was admin, which is that of another user in other case."},
	} {
		var got []string
		if err := db.Read.NewRaw(query).Scan(ctx, &got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", query, got, err, want)
		}
	}
}
