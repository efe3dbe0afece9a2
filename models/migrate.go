package models

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
)

//go:embed migrations
var migrations embed.FS

// MigrationTable is the table of the migrations that have run.
const MigrationTable = "schema_migrations"

// migrationLock is the key of the advisory lock that a migration holds, because several
// nodes may start at the same time.
const migrationLock = 0x6d657368

// baseline is the first migration. Databases whose first migration had another name come from
// source before version 1.0.0.
const baseline = "0001_baseline"

// ErrOlder is the error of a database from source before version 1.0.0. Its migrations no longer
// exist.
var ErrOlder = errors.New("the database is from source before version 1.0.0, which cannot be migrated")

// ErrNewer is the error of a database that a newer version has migrated.
var ErrNewer = errors.New("the database is newer than this version of meshyard")

// Pending returns the names of the migrations that have not run, all of them on an empty database.
// Like Migrate, it returns ErrNewer or ErrOlder if this version cannot use the database. It changes
// nothing.
func (db *DB) Pending(ctx context.Context) (names []string, err error) {
	known, err := migrationNames(migrations, db.Engine)
	if err != nil {
		return nil, err
	}
	recorded, err := db.HasTable(ctx, db.Read, MigrationTable)
	if err != nil {
		return nil, fmt.Errorf("check migrations: %w", err)
	}
	if !recorded {
		return known, db.CheckOwner(ctx, db.Read, MigrationTable)
	}
	names, err = notRecorded(ctx, db.Read, known)
	if err != nil {
		return nil, fmt.Errorf("check migrations: %w", err)
	}
	return names, nil
}

// CheckMigration returns ErrNewer if this version does not know a migration of a database of the
// engine. It returns nil for an empty name.
func CheckMigration(engine database.Engine, name string) error {
	known, err := migrationNames(migrations, engine)
	if err != nil || name == "" {
		return err
	}
	return checkKnown([]string{baseline, name}, known)
}

// migrationNames returns the names of all migrations of an engine in their order. Their numbers may
// have gaps.
func migrationNames(files fs.FS, engine database.Engine) ([]string, error) {
	entries, err := fs.ReadDir(files, path.Join("migrations", string(engine))) // sorted by name
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".sql")
	}
	return names, nil
}

// notRecorded returns the names of the known migrations that have not run, in their order. These
// may include migrations before the last one that has run, because a branch with a lower number can
// be merged later.
//
// It returns ErrNewer if a migration has run that this version does not know. Otherwise this
// version would write rows without values that the newer schema requires, and its garbage collector
// would remove objects that only newer rows refer to.
func notRecorded(ctx context.Context, db bun.IDB, known []string) ([]string, error) {
	var recorded []string
	err := db.NewSelect().Table(MigrationTable).Column("name").Order("number").Scan(ctx, &recorded)
	if err != nil {
		return nil, err
	}
	if err := checkKnown(recorded, known); err != nil {
		return nil, err
	}
	has := func(name string) bool { return slices.Contains(recorded, name) }
	return slices.DeleteFunc(slices.Clone(known), has), nil
}

// checkKnown returns ErrNewer if one of the recorded names is not known, or ErrOlder if the
// baseline is not among them.
func checkKnown(recorded, known []string) error {
	if len(recorded) > 0 && !slices.Contains(recorded, baseline) {
		return fmt.Errorf("%w: its first migration is %s, and not %s; start with a new, empty database",
			ErrOlder, recorded[0], baseline)
	}
	i := slices.IndexFunc(recorded, func(name string) bool { return !slices.Contains(known, name) })
	if i < 0 {
		return nil
	}
	return fmt.Errorf("%w: it has the migration %s, and the newest one known here is %s; "+
		"start the version that was used last, or a newer one", ErrNewer, recorded[i], known[len(known)-1])
}

// record records that a migration has run.
func record(ctx context.Context, tx bun.Tx, name string) error {
	digits, _, _ := strings.Cut(name, "_")
	number, err := strconv.Atoi(digits)
	if err != nil {
		return errors.New("the name does not begin with a number")
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO schema_migrations (number, name) VALUES (?, ?)", number, name)
	return err
}

// Migrate brings the schema up to date and returns the names of the migrations that it ran, if any.
// All of them run in one transaction, which also records that they ran. If the process dies
// meanwhile, or another process migrates at the same time, the database has either the old schema
// or the new one.
func (db *DB) Migrate(ctx context.Context) (applied []string, err error) {
	return db.migrate(ctx, migrations)
}

// migrate is Migrate with the migrations in the folder migrations of a file system.
func (db *DB) migrate(ctx context.Context, files fs.FS) (applied []string, err error) {
	known, err := migrationNames(files, db.Engine)
	if err != nil {
		return nil, err
	}
	err = db.InLongTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := db.lockMigrations(ctx, tx); err != nil {
			return err
		}
		applied, err = notRecorded(ctx, tx, known)
		if err != nil {
			return err
		}
		for _, name := range applied {
			if err := db.apply(ctx, tx, files, name); err != nil {
				return fmt.Errorf("migration %s: %w", name, err)
			}
		}
		return db.growNewDownloads(ctx, tx)
	})
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return applied, nil
}

// lockMigrations waits for another node that migrates, and creates the table of the migrations that
// have run.
func (db *DB) lockMigrations(ctx context.Context, tx bun.Tx) error {
	// A timeout for statements of requests would end a long migration at each attempt, and the wait
	// for another node that migrates.
	if err := db.EndTimeouts(ctx, tx); err != nil {
		return err
	}
	if err := db.AdvisoryLock(ctx, tx, migrationLock); err != nil {
		return err
	}
	if err := db.CheckOwner(ctx, tx, MigrationTable); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx,
		"CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)")
	return err
}

// apply runs the statements of one migration and records it.
func (db *DB) apply(ctx context.Context, tx bun.Tx, files fs.FS, name string) error {
	text, err := fs.ReadFile(files, path.Join("migrations", string(db.Engine), name+".sql"))
	if err != nil {
		return err
	}
	if name == baseline {
		if err := db.CheckTrigrams(ctx, tx); err != nil {
			return err
		}
	}
	// This bypasses Bun, which would interpret question marks as placeholders.
	if _, err := tx.Tx.ExecContext(ctx, string(text)); err != nil {
		return err
	}
	return record(ctx, tx, name)
}

// growNewDownloads adds empty pages to the table new_downloads of PostgreSQL, unless it has enough.
// The rows of the table are deleted after a few seconds. While a table has only a few pages,
// PostgreSQL counts its rows by a sequential scan, and prepared statements keep that plan when a
// burst of downloads makes the table long. A restored database has no empty pages, and neither has
// a table after VACUUM FULL.
func (db *DB) growNewDownloads(ctx context.Context, tx bun.Tx) error {
	if !db.PlansByPages() {
		return nil
	}
	const rows, size = 5000, 200 << 10 // 32 pages of 8 KiB hold the rows
	var short bool
	if err := tx.NewRaw("SELECT pg_relation_size('new_downloads') < ?", size).Scan(ctx, &short); err != nil || !short {
		return err
	}
	if _, err := tx.ExecContext(ctx,
		"INSERT INTO new_downloads (id, thing_id, file_id) SELECT -n, 0, 0 FROM generate_series(1, ?) AS n",
		rows); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM new_downloads WHERE id < 0")
	return err
}
