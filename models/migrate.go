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

// migrationTable is the table of the migrations that have run.
const migrationTable = "schema_migrations"

// migrationLock is the key of the advisory lock that a migration holds, because several
// nodes may start at the same time.
const migrationLock = 0x6d657368

// renumbered contains the names of migrations that had other numbers in earlier source, by the
// names with which databases of that time recorded them.
var renumbered = map[string]string{
	"0034_last_runs":          "0036_last_runs",
	"0035_changed_makes":      "0034_changed_makes",
	"0035_postponed_previews": "0037_postponed_previews",
	"0036_postponed_previews": "0037_postponed_previews",
}

// ErrNewer is the error of a database that a newer version has migrated.
var ErrNewer = errors.New("the database is newer than this version of meshyard")

// Pending returns the names of the migrations that have not run, all of them on an empty database.
// Like Migrate, it returns ErrNewer if the database is newer than this version. It changes nothing.
func (db *DB) Pending(ctx context.Context) (names []string, err error) {
	known, err := migrationNames(db.Engine)
	if err != nil {
		return nil, err
	}
	recorded, err := db.HasTable(ctx, db.Read, migrationTable)
	if err != nil {
		return nil, fmt.Errorf("check migrations: %w", err)
	}
	if !recorded {
		return known, db.CheckOwner(ctx, db.Read, migrationTable)
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
	known, err := migrationNames(engine)
	if err != nil || name == "" {
		return err
	}
	return checkKnown([]string{name}, known)
}

// migrationNames returns the names of all migrations of an engine in their order.
func migrationNames(engine database.Engine) ([]string, error) {
	files, err := fs.ReadDir(migrations, path.Join("migrations", string(engine))) // sorted by name
	if err != nil {
		return nil, err
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(file.Name(), ".sql")
	}
	return names, nil
}

// notRecorded returns the names of the known migrations that have not run, in their order. It does
// not assume that all migrations before the last one have run: earlier source added some of them in
// another order.
//
// It returns ErrNewer if a migration has run that this version does not know. Otherwise this
// version would write rows without values that the newer schema requires, and its garbage collector
// would remove objects that only newer rows refer to.
func notRecorded(ctx context.Context, db bun.IDB, known []string) ([]string, error) {
	var recorded []string
	if err := db.NewSelect().Table("schema_migrations").Column("name").Order("number").Scan(ctx, &recorded); err != nil {
		return nil, err
	}
	if err := checkKnown(recorded, known); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(known), func(name string) bool { return slices.Contains(recorded, name) }), nil
}

// checkKnown replaces names of earlier source in place. It returns ErrNewer if one of the names is
// not known.
func checkKnown(recorded, known []string) error {
	for i, name := range recorded {
		if now, ok := renumbered[name]; ok {
			recorded[i] = now
		}
	}
	if i := slices.IndexFunc(recorded, func(name string) bool { return !slices.Contains(known, name) }); i >= 0 {
		return fmt.Errorf("%w: it has the migration %s, and the newest one known here is %s; "+
			"start the version that was used last, or a newer one", ErrNewer, recorded[i], known[len(known)-1])
	}
	return nil
}

// recordMigrations records that all of the migrations have run.
func recordMigrations(ctx context.Context, tx bun.Tx, names []string) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM schema_migrations"); err != nil {
		return err
	}
	for _, name := range names {
		digits, _, _ := strings.Cut(name, "_")
		number, err := strconv.Atoi(digits)
		if err != nil {
			return fmt.Errorf("migration %s: the name does not begin with a number", name)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO schema_migrations (number, name) VALUES (?, ?)", number, name); err != nil {
			return err
		}
	}
	return nil
}

// The migrations that SQL alone cannot do, or not in the same way on both engines.
const (
	// tagMigration adds slugs to tags. The engines convert letters to lower case differently.
	tagMigration = "0002_catalogue"
	// searchMigration adds the tables of search documents.
	searchMigration = "0003_search"
	// countMigration is the last one that adds counts without setting them. All counts are recomputed
	// after it, which takes about 100 s for a million things.
	countMigration = "0007_quotas"
	// renamedMigration updates the documents of renamed users; see indexRenamed.
	renamedMigration = "0032_renamed_users"
	// uniqueMigration renames users whose names differ in case only.
	uniqueMigration = "0042_unique_usernames"
)

// Migrate brings the schema up to date and returns the names of the migrations that it ran, if any.
// All of them run in one transaction, which also records that they ran. If the process dies
// meanwhile, or another process migrates at the same time, the database has either the old schema
// or the new one.
func (db *DB) Migrate(ctx context.Context) (applied []string, err error) {
	known, err := migrationNames(db.Engine)
	if err != nil {
		return nil, err
	}
	err = db.InLongTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := db.lockMigrations(ctx, tx); err != nil {
			return err
		}
		pending, err := notRecorded(ctx, tx, known)
		if err != nil {
			return err
		}
		for _, name := range pending {
			if err := db.apply(ctx, tx, name); err != nil {
				return fmt.Errorf("migration %s: %w", name, err)
			}
		}
		if len(pending) > 0 {
			if err := recordMigrations(ctx, tx, known); err != nil {
				return err
			}
		}
		applied = pending
		return db.finishMigrations(ctx, tx, applied)
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
	if err := db.CheckOwner(ctx, tx, migrationTable); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)")
	return err
}

// apply runs the statements of one migration, and the part of it that SQL cannot do.
func (db *DB) apply(ctx context.Context, tx bun.Tx, name string) error {
	text, err := migrations.ReadFile(path.Join("migrations", string(db.Engine), name+".sql"))
	if err != nil {
		return err
	}
	if name == searchMigration {
		if err := db.CheckTrigrams(ctx, tx); err != nil {
			return err
		}
	}
	// This bypasses Bun, which would interpret question marks as placeholders.
	if _, err := tx.Tx.ExecContext(ctx, string(text)); err != nil {
		return err
	}
	if name == tagMigration {
		return slugTags(ctx, tx)
	}
	return nil
}

// finishMigrations updates values that are derived from others, after the applied migrations. It
// runs after the last one, because search documents contain columns that later migrations add.
func (db *DB) finishMigrations(ctx context.Context, tx bun.Tx, applied []string) error {
	switch {
	case slices.Contains(applied, searchMigration):
		if err := db.indexAll(ctx, tx); err != nil {
			return fmt.Errorf("migration %s: %w", searchMigration, err)
		}
	case slices.Contains(applied, renamedMigration), slices.Contains(applied, uniqueMigration):
		if err := db.indexRenamed(ctx, tx); err != nil {
			return fmt.Errorf("index renamed users: %w", err)
		}
	}
	if err := db.growNewDownloads(ctx, tx); err != nil {
		return err
	}
	if slices.Contains(applied, countMigration) {
		return db.recount(ctx, tx)
	}
	return nil
}
