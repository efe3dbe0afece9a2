package models

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/pgtest"
)

// eachDatabase runs test with an empty database of each engine.
func eachDatabase(t *testing.T, test func(t *testing.T, address string)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, "sqlite:"+filepath.Join(t.TempDir(), "db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, pgtest.Database(t))
	})
}

// openTestDB opens a database until the test ends.
func openTestDB(t *testing.T, address string) *DB {
	t.Helper()
	db, err := OpenDB(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// later returns the baseline and other migrations, by name, which are the same on both engines.
func later(t *testing.T, others map[string]string) fstest.MapFS {
	t.Helper()
	files := make(fstest.MapFS)
	for _, engine := range []string{"sqlite", "postgres"} {
		text, err := migrations.ReadFile("migrations/" + engine + "/" + baseline + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		files["migrations/"+engine+"/"+baseline+".sql"] = &fstest.MapFile{Data: text}
		for name, sql := range others {
			files["migrations/"+engine+"/"+name+".sql"] = &fstest.MapFile{Data: []byte(sql)}
		}
	}
	return files
}

// wantRecorded checks which migrations a database has recorded.
func wantRecorded(t *testing.T, db *DB, want ...string) {
	t.Helper()
	var got []string
	err := db.Read.NewSelect().Table(MigrationTable).Column("name").Order("number").Scan(t.Context(), &got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("recorded: %q, %v, want %q", got, err, want)
	}
}

// TestMigrate checks that all migrations run once, and that the engines have the same ones.
func TestMigrate(t *testing.T) {
	eachDatabase(t, func(t *testing.T, address string) {
		ctx, db := t.Context(), openTestDB(t, address)
		all, err := db.Pending(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, engine := range []database.Engine{database.SQLite, database.Postgres} {
			names, err := migrationNames(migrations, engine)
			if err != nil || !slices.Equal(names, all) {
				t.Errorf("migrations of %s: %q, %v, want %q", engine, names, err, all)
			}
		}
		if applied, err := db.Migrate(ctx); err != nil || !slices.Equal(applied, all) {
			t.Fatalf("migrated %q, %v, want %q", applied, err, all)
		}
		wantRecorded(t, db, all...)
		if pending, err := db.Pending(ctx); err != nil || len(pending) > 0 {
			t.Errorf("pending after the migration: %q, %v", pending, err)
		}
		if applied, err := db.Migrate(ctx); err != nil || len(applied) > 0 {
			t.Errorf("migrated again %q, %v", applied, err)
		}
	})
}

// TestLaterMigrations checks that migrations that are added later run in the order of their
// numbers, including one with a lower number than the last one that has run, and that numbers may
// have gaps.
func TestLaterMigrations(t *testing.T) {
	eachDatabase(t, func(t *testing.T, address string) {
		ctx, db := t.Context(), openTestDB(t, address)
		with := map[string]string{"0004_birds": "CREATE TABLE birds (id INTEGER PRIMARY KEY);"}
		if _, err := db.migrate(ctx, later(t, with)); err != nil {
			t.Fatal(err)
		}
		with["0002_nests"] = "CREATE TABLE nests (id INTEGER PRIMARY KEY);"
		with["0009_eggs"] = "ALTER TABLE nests ADD COLUMN eggs INTEGER; ALTER TABLE birds ADD COLUMN egg INTEGER;"
		applied, err := db.migrate(ctx, later(t, with))
		if want := []string{"0002_nests", "0009_eggs"}; err != nil || !slices.Equal(applied, want) {
			t.Fatalf("migrated %q, %v, want %q", applied, err, want)
		}
		wantRecorded(t, db, baseline, "0002_nests", "0004_birds", "0009_eggs")
		if _, err := db.SQL().ExecContext(ctx, "SELECT n.eggs, b.egg FROM nests AS n, birds AS b"); err != nil {
			t.Error(err)
		}
	})
}

// TestFailedMigration checks that a migration that fails undoes those before it.
func TestFailedMigration(t *testing.T) {
	eachDatabase(t, func(t *testing.T, address string) {
		ctx, db := t.Context(), openTestDB(t, address)
		if _, err := db.migrate(ctx, later(t, nil)); err != nil {
			t.Fatal(err)
		}
		files := later(t, map[string]string{
			"0002_birds": "CREATE TABLE birds (id INTEGER PRIMARY KEY);",
			"0003_nests": "CREATE TABLE nests (id INTEGER PRIMARY KEY); INSERT INTO eggs (id) VALUES (1);",
		})
		if _, err := db.migrate(ctx, files); err == nil || !strings.Contains(err.Error(), "migration 0003_nests: ") {
			t.Errorf("a migration that fails: got %v, want its name", err)
		}
		wantRecorded(t, db, baseline)
		for _, table := range []string{"birds", "nests"} {
			if has, err := db.HasTable(ctx, db.Read, table); has || err != nil {
				t.Errorf("the table %s of a migration that was undone: %v, %v", table, has, err)
			}
		}
	})
}

// TestMigrationsAtTheSameTime checks that the migrations run once if two nodes start at the same
// time.
func TestMigrationsAtTheSameTime(t *testing.T) {
	eachDatabase(t, func(t *testing.T, address string) {
		type result struct {
			applied []string
			err     error
		}
		results := make(chan result)
		const nodes = 2
		for range nodes {
			db := openTestDB(t, address)
			go func() {
				applied, err := db.Migrate(t.Context())
				results <- result{applied, err}
			}()
		}
		migrated := 0
		for range nodes {
			r := <-results
			if r.err != nil {
				t.Error(r.err)
			}
			if len(r.applied) > 0 {
				migrated++
			}
		}
		if migrated != 1 {
			t.Errorf("%d nodes ran the migrations, want 1", migrated)
		}
	})
}

// TestMigrationOfEarlierSource checks that a database of source before version 1.0.0 is refused and
// not changed.
func TestMigrationOfEarlierSource(t *testing.T) {
	eachDatabase(t, func(t *testing.T, address string) {
		ctx, db := t.Context(), openTestDB(t, address)
		for _, statement := range []string{
			"CREATE TABLE schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)",
			"INSERT INTO schema_migrations (number, name) VALUES (1, '0001_foundation'), (43, '0043_source_url')",
		} {
			if _, err := db.SQL().ExecContext(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		const want = "its first migration is 0001_foundation, and not 0001_baseline"
		if _, err := db.Pending(ctx); !errors.Is(err, ErrOlder) || !strings.Contains(err.Error(), want) {
			t.Errorf("pending: got %v, want %q", err, want)
		}
		if _, err := db.Migrate(ctx); !errors.Is(err, ErrOlder) || !strings.Contains(err.Error(), want) {
			t.Errorf("migrate: got %v, want %q", err, want)
		}
		wantRecorded(t, db, "0001_foundation", "0043_source_url")
		if has, err := db.HasTable(ctx, db.Read, "users"); has || err != nil {
			t.Errorf("the table users after a refused migration: %v, %v", has, err)
		}
	})
}

// TestMigrationsNeverChange compares the migrations with their SHA-256 sums. Databases that have
// run a migration never run it again, so a change would give old and new databases different
// schemas. Change the schema by a new migration, and add its sums with sha256sum. They may change
// only until the migration is in a release.
func TestMigrationsNeverChange(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "migrations.sha256"))
	if err != nil {
		t.Fatal(err)
	}
	sums := strings.Split(strings.TrimSpace(string(text)), "\n")
	files := 0
	err = fs.WalkDir(migrations, "migrations", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		content, err := migrations.ReadFile(name)
		if line := fmt.Sprintf("%x  %s", sha256.Sum256(content), name); !slices.Contains(sums, line) {
			t.Errorf("testdata/migrations.sha256 has no line %q: the migration is new, or it was changed", line)
		}
		return err
	})
	if err != nil || files != len(sums) {
		t.Errorf("%d migrations and %d sums, %v", files, len(sums), err)
	}
}

// TestMigrationsHaveNoTimeout checks that a statement_timeout of the database does not end a
// migration, nor the wait for another node that migrates.
func TestMigrationsHaveNoTimeout(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	other := openTestDB(t, address)
	if _, err := other.SQL().
		ExecContext(t.Context(),
			"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 100', current_database()); END $$"); err != nil {
		t.Fatal(err)
	}
	tx, err := other.SQL().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
		t.Fatal(err)
	}
	db := openTestDB(t, address)
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
	db := openTestDB(t, pgtest.Database(t))
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var options string
	err := db.Read.NewRaw(
		"SELECT coalesce(array_to_string(reloptions, ' '), '') FROM pg_class WHERE oid = 'things'::regclass").
		Scan(t.Context(), &options)
	if err != nil || options != "autovacuum_vacuum_scale_factor=0.02" {
		t.Errorf("the options of things are %q (%v)", options, err)
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
	if err := db.Read.NewRaw("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite%'").
		Scan(ctx, &tables); err != nil || !slices.Equal(tables, []string{"birds"}) {
		t.Errorf("got the tables %v, %v; want birds only", tables, err)
	}
}
