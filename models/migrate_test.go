package models

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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

// TestMigrationsOfRows checks the values that migrations compute for rows of a database of earlier
// source.
func TestMigrationsOfRows(t *testing.T) {
	t.Parallel()
	for engine, address := range map[database.Engine]string{database.SQLite: "sqlite:" + filepath.Join(t.TempDir(), "db"), database.Postgres: pgtest.Database(t)} {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
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
			for _, name := range all[:slices.Index(all, "0017_editing")] {
				runMigration(t, db, name, name)
			}
			const at = "'2026-03-04 05:06:07+00:00'"
			for _, statement := range []string{
				"INSERT INTO users (id, username, is_admin, created_at) VALUES (1, 'ada', false, " + at + "), (2, 'bob', false, " + at + ")",
				"INSERT INTO things (id, owner_id, name, state, license, category_id, description, instructions, is_wip, created_at, modified_at, published_at, taken_down_at) " +
					"SELECT n, 1, 'a', 'draft', 'cc', 1, '', '', false, " + at + ", " + at + ", published, down FROM " +
					"(SELECT 1 AS n, NULL AS published, NULL AS down UNION SELECT 2, " + at + ", " + at + " UNION SELECT 3, NULL, " + at + ") AS v",
				"INSERT INTO collections (id, owner_id, name, description, created_at, modified_at) VALUES (1, 1, 'a', '', " + at + ", " + at + "), (2, 1, 'b', '', " + at + ", " + at + ")",
				"INSERT INTO collection_things (id, collection_id, thing_id, created_at) VALUES (7, 1, 2, " + at + "), (8, 1, 1, " + at + ")",
				"INSERT INTO likes (user_id, target_type, target_id, created_at) VALUES (1, 'collection', 1, " + at + "), (2, 'collection', 1, " + at + "), (2, 'thing', 2, " + at + ")",
				`INSERT INTO previews (id, sha256, subject, version, state, beat_at, mesh) VALUES (1, 'a', 'stl', 1, 'done', ` + at + `, '{"size": [1, 30.5, 2], "triangles": 12, "watertight": true}'), ` +
					`(2, 'b', 'obj', 1, 'failed', ` + at + `, NULL)`,
				"INSERT INTO files (id, owner_id, name, kind, state, size, content_type, sha256, md5, object_key, target_type, target_id, thing_id, rank, download_count, created_at, preview_id) " +
					"SELECT n, 1, 'a', 'model', 'finalized', 1, '', 'a', 'a', '', 'thing', 1, 1, 1, 0, " + at + ", n FROM (SELECT 0 AS n UNION SELECT 1 UNION SELECT 2) AS v",
			} {
				if engine == database.Postgres {
					statement = strings.NewReplacer("NULL AS published", "NULL::timestamptz AS published", "NULL AS down", "NULL::timestamptz AS down", "2, "+at+", "+at, "2, timestamptz "+at+", timestamptz "+at).Replace(statement)
				}
				if _, err := db.SQL().ExecContext(ctx, statement); err != nil {
					t.Fatalf("%.80s: %v", statement, err)
				}
			}
			if _, err := db.Migrate(ctx); err != nil {
				t.Fatal(err)
			}
			for query, want := range map[string][]string{
				"SELECT id || ' ' || hidden_state FROM things ORDER BY id":                                        {"1 ", "2 published", "3 draft"},
				"SELECT thing_id || ' ' || position FROM collection_things ORDER BY id":                           {"2 7", "1 8"},
				"SELECT id || ' ' || like_count FROM collections ORDER BY id":                                     {"1 2", "2 0"},
				"SELECT id || ' ' || coalesce(format || ' ' || triangles, format, 'none') FROM files ORDER BY id": {"0 none", "1 stl 12", "2 obj"},
				"SELECT id || '' FROM files WHERE longest_mm = 30.5 AND watertight ORDER BY id":                   {"1"},
			} {
				var got []string
				if err := db.Read.NewRaw(query).Scan(ctx, &got); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: got %q, %v, want %q", query, got, err, want)
				}
			}
		})
	}
}

// TestDatabaseOfAnotherProgram checks that nothing is created in a SQLite file that has tables of
// another program.
func TestDatabaseOfAnotherProgram(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db, err := OpenDB(ctx, "sqlite:"+filepath.Join(t.TempDir(), "other.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.SQL().ExecContext(ctx, "CREATE TABLE birds (id INTEGER PRIMARY KEY AUTOINCREMENT)"); err != nil {
		t.Fatal(err)
	}
	const want = `belongs to another program: it has the table "birds"`
	if _, err := db.Pending(ctx); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("pending: got %v, want %s", err, want)
	}
	if _, err := db.Migrate(ctx); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("migrate: got %v, want %s", err, want)
	}
	var tables []string
	if err := db.Read.NewRaw("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite%'").Scan(ctx, &tables); err != nil || !slices.Equal(tables, []string{"birds"}) {
		t.Errorf("got the tables %v, %v; want birds only", tables, err)
	}
}
