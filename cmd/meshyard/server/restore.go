package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/meshyard/meshyard/internal/backup/pgdump"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/filesystem/durable"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/maintenance"
)

// IsEmpty reports whether the database of the settings has no tables or, on SQLite, does not exist.
func IsEmpty(ctx context.Context, s config.Settings) (bool, error) {
	if path, ok := database.File(s.DatabaseURL); ok {
		// SQLite would apply the leftover journal of another database to the restored one.
		for _, name := range []string{path, path + "-wal", path + "-journal"} {
			if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
				return false, err
			}
		}
		return true, nil
	}
	db, err := models.OpenDB(ctx, s.DatabaseURL)
	if err != nil {
		return false, startError("--database-url", s.DatabaseURL, err)
	}
	empty, err := maintenance.IsEmpty(ctx, db)
	return empty, errors.Join(err, db.Close())
}

// CheckObjects returns an error if a bucket with the objects of a backup has none of the files of
// the database of the settings, or if a newer version has migrated that.
func CheckObjects(ctx context.Context, s config.Settings, objects *bucket.Bucket) error {
	db, err := openDB(ctx, s)
	if err != nil {
		return err
	}
	defer db.Close()
	pending, err := db.Pending(ctx)
	if err != nil || len(pending) > 0 { // the tables of an older database may differ
		return err
	}
	err = catalogue.New(db, objects, catalogue.Options{}, nil).Maintenance.CheckBucket(ctx)
	if errors.Is(err, maintenance.ErrNoContents) || errors.Is(err, maintenance.ErrUsedBucket) {
		return fmt.Errorf("the objects of the backup are not those of the database: %w", err)
	}
	return err
}

// RestoreDatabase restores the database from the file of a backup, completely or not at all.
func RestoreDatabase(ctx context.Context, s config.Settings, file string) error {
	path, ok := database.File(s.DatabaseURL)
	if !ok {
		return pgdump.Restore(ctx, s.DatabaseURL, file)
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	if err := copyFile(path, file); err != nil {
		return fmt.Errorf("restore %s: %w", path, err)
	}
	return nil
}

// copyFile atomically and durably creates the file path with the content of the file from.
func copyFile(path, from string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	return durable.Write(path, path+".restore", func(w io.Writer) error { _, err := io.Copy(w, r); return err })
}
