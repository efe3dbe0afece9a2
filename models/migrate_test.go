package models

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/pgtest"
)

// runMigration runs the SQL of a migration, and records it by a name of earlier source.
func runMigration(t *testing.T, db *DB, name, as string) {
	t.Helper()
	text, err := migrations.ReadFile(path.Join("migrations", string(db.Engine), name+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(as[:4])
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statement string) {
		t.Helper()
		if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%.80s: %v", statement, err)
		}
	}
	exec("CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)")
	exec(string(text))
	exec("INSERT INTO schema_migrations (number, name) VALUES (" + strconv.Itoa(number) + ", '" + as + "')")
}

// TestMigrationsInAnotherOrder checks that each migration runs once in a database of earlier
// source, in which migrations had other numbers and later ones ran before earlier ones.
func TestMigrationsInAnotherOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before   string            // the migrations before this one have run
		recorded map[string]string // which others have run, and as what they were recorded
		want     []string          // the first migrations that are missing
	}{
		"other numbers": {
			before:   "0034_changed_makes",
			recorded: map[string]string{"0036_last_runs": "0034_last_runs", "0034_changed_makes": "0035_changed_makes"},
			want:     []string{"0035_collection_likes", "0037_postponed_previews"},
		},
		"a number that another migration has now": {
			before:   "0034_changed_makes",
			recorded: map[string]string{"0036_last_runs": "0034_last_runs", "0037_postponed_previews": "0035_postponed_previews"},
			want:     []string{"0034_changed_makes", "0035_collection_likes"},
		},
		"a later one first": {
			before:   "0017_editing",
			recorded: map[string]string{"0022_refresh_tokens": "0022_refresh_tokens"},
			want:     []string{"0017_editing", "0018_browse", "0019_archive_imports", "0020_viewers", "0023_webhooks"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for engine, address := range map[database.Engine]string{database.SQLite: "sqlite:" + filepath.Join(t.TempDir(), "db"), database.Postgres: pgtest.Database(t)} {
				t.Run(string(engine), func(t *testing.T) {
					ctx := t.Context()
					db, err := OpenDB(ctx, address)
					if err != nil {
						t.Fatal(err)
					}
					defer db.Close()
					all, err := db.Pending(ctx)
					if err != nil {
						t.Fatal(err)
					}
					for _, name := range all[:slices.Index(all, c.before)] {
						runMigration(t, db, name, name)
					}
					for name, as := range c.recorded {
						runMigration(t, db, name, as)
					}
					pending, err := db.Pending(ctx)
					if err != nil || len(pending) < len(c.want) || !slices.Equal(pending[:len(c.want)], c.want) {
						t.Fatalf("pending: %q, %v, want %q first", pending, err, c.want)
					}
					if applied, err := db.Migrate(ctx); err != nil || !slices.Equal(applied, pending) {
						t.Fatalf("migrated %q, %v, want %q", applied, err, pending)
					}
					var recorded []string
					err = db.Read.NewSelect().Table("schema_migrations").Column("name").Order("number").Scan(ctx, &recorded)
					if err != nil || !slices.Equal(recorded, all) {
						t.Errorf("recorded: %q, %v, want %q", recorded, err, all)
					}
					if applied, err := db.Migrate(ctx); err != nil || len(applied) > 0 {
						t.Errorf("migrated again %q, %v", applied, err)
					}
				})
			}
		})
	}
}

// TestMigrationsHaveNoTimeout checks that a statement_timeout of the database does not end a
// migration, nor the wait for another node that migrates.
func TestMigrationsHaveNoTimeout(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	open := func(address string) *DB {
		t.Helper()
		db, err := OpenDB(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	other := open(address)
	if _, err := other.SQL().ExecContext(t.Context(), "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 100', current_database()); END $$"); err != nil {
		t.Fatal(err)
	}
	tx, err := other.SQL().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
		t.Fatal(err)
	}
	db := open(address)
	migrated := make(chan error)
	go func() {
		_, err := db.Migrate(t.Context())
		migrated <- err
	}()
	select {
	case err := <-migrated:
		t.Fatalf("migrated while another node migrates: %v", err)
	case <-time.After(500 * time.Millisecond):
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Error(err)
	}
}

// TestThingsAreVacuumedEarly checks that PostgreSQL vacuums things when few of them have changed.
func TestThingsAreVacuumedEarly(t *testing.T) {
	t.Parallel()
	db, err := OpenDB(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var options string
	err = db.Read.NewRaw("SELECT coalesce(array_to_string(reloptions, ' '), '') FROM pg_class WHERE oid = 'things'::regclass").Scan(t.Context(), &options)
	if err != nil || options != "autovacuum_vacuum_scale_factor=0.02" {
		t.Errorf("the options of things are %q (%v)", options, err)
	}
}
