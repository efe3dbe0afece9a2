package models

import (
	"context"
	"embed"
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

// migrationLock is the key of the PostgreSQL advisory lock that a migration holds, because several
// nodes may start at the same time.
const migrationLock = 0x6d657368

// Pending returns the names of the migrations that have not run, all of them on an empty database.
// Like Migrate, it returns an error if the database is newer than this version. It changes nothing.
func (db *DB) Pending(ctx context.Context) (names []string, err error) {
	files, err := fs.ReadDir(migrations, path.Join("migrations", string(db.Engine)))
	if err != nil {
		return nil, err
	}
	recorded := "SELECT to_regclass('schema_migrations') IS NOT NULL"
	if db.Engine == database.SQLite {
		recorded = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations')"
	}
	var any bool
	if err := db.Read.NewRaw(recorded).Scan(ctx, &any); err != nil {
		return nil, fmt.Errorf("pending migrations: %w", err)
	}
	var last int
	if any {
		if err := db.Read.NewSelect().Table("schema_migrations").ColumnExpr("coalesce(max(number), 0)").Scan(ctx, &last); err != nil {
			return nil, fmt.Errorf("pending migrations: %w", err)
		}
		if err := checkNotNewer(ctx, db.Read, files, last); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		number, name, err := migrationOf(file.Name())
		if err != nil {
			return nil, err
		}
		if number > last {
			names = append(names, name)
		}
	}
	return names, nil
}

// migrationOf returns the number and the name of the migration in a file.
func migrationOf(file string) (number int, name string, err error) {
	name = strings.TrimSuffix(file, ".sql")
	digits, _, _ := strings.Cut(name, "_")
	if number, err = strconv.Atoi(digits); err != nil {
		return 0, "", fmt.Errorf("migration %s: the name does not begin with a number", file)
	}
	return number, name, nil
}

// searchMigration is the migration that adds the tables of search documents.
const searchMigration = "0003_search"

// renamedMigration is the migration that updates the documents of renamed users; see indexRenamed.
const renamedMigration = "0032_renamed_users"

// countMigration is the last migration that adds counts without setting them. All counts are
// recomputed after it, which takes about 100 s for a million things.
const countMigration = "0007_quotas"

// Migrate brings the schema up to date and returns the names of the migrations that it ran, if any.
// All of them run in one transaction, which also records that they ran. If the process dies
// meanwhile, or another process migrates at the same time, the database has either the old schema
// or the new one.
func (db *DB) Migrate(ctx context.Context) (applied []string, err error) {
	dir := path.Join("migrations", string(db.Engine))
	files, err := fs.ReadDir(migrations, dir)
	if err != nil {
		return nil, err
	}
	// The parts of migrations that SQL cannot do, or not in the same way on both engines.
	finishMigration := map[string]func(context.Context, bun.Tx) error{
		"0002_catalogue": slugTags, // the engines convert letters to lower case differently
	}
	err = db.InLongTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		applied = nil
		if db.Engine == database.Postgres {
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(?)", migrationLock); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)"); err != nil {
			return err
		}
		var last int
		if err := tx.NewSelect().Table("schema_migrations").ColumnExpr("coalesce(max(number), 0)").Scan(ctx, &last); err != nil {
			return err
		}
		if err := checkNotNewer(ctx, tx, files, last); err != nil {
			return err
		}
		for _, file := range files {
			number, name, err := migrationOf(file.Name())
			if err != nil {
				return err
			}
			if number <= last {
				continue
			}
			text, err := migrations.ReadFile(path.Join(dir, file.Name()))
			if err != nil {
				return err
			}
			// This bypasses Bun, which would interpret question marks as placeholders.
			if _, err := tx.Tx.ExecContext(ctx, string(text)); err != nil {
				return fmt.Errorf("migration %s: %w", name, err)
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO schema_migrations (number, name) VALUES (?, ?)", number, name); err != nil {
				return err
			}
			if finish := finishMigration[name]; finish != nil {
				if err := finish(ctx, tx); err != nil {
					return fmt.Errorf("migration %s: %w", name, err)
				}
			}
			applied = append(applied, name)
		}
		// This comes last, because documents contain columns that later migrations add.
		switch {
		case slices.Contains(applied, searchMigration):
			if err := db.indexAll(ctx, tx); err != nil {
				return fmt.Errorf("migration %s: %w", searchMigration, err)
			}
		case slices.Contains(applied, renamedMigration):
			if err := db.indexRenamed(ctx, tx); err != nil {
				return fmt.Errorf("migration %s: %w", renamedMigration, err)
			}
		}
		if err := db.growNewDownloads(ctx, tx); err != nil {
			return err
		}
		if slices.Contains(applied, countMigration) {
			return db.recount(ctx, tx)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return applied, nil
}

// checkNotNewer returns an error if the database has a migration that this version does not know.
// Otherwise this version would write rows without values that the newer schema requires, and its
// garbage collector would remove objects that only newer rows refer to.
func checkNotNewer(ctx context.Context, db bun.IDB, files []fs.DirEntry, last int) error {
	newest := strings.TrimSuffix(files[len(files)-1].Name(), ".sql") // ReadDir sorts by name
	digits, _, _ := strings.Cut(newest, "_")
	if number, err := strconv.Atoi(digits); err != nil || last <= number {
		return err
	}
	var name string
	if err := db.NewSelect().Table("schema_migrations").Column("name").Where("number = ?", last).Scan(ctx, &name); err != nil {
		return err
	}
	return fmt.Errorf("the database is newer than this version of meshyard: it has the migration %s, and the newest one known here is %s; "+
		"start the version that was used last, or a newer one", name, newest)
}
