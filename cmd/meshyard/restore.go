package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/backup"
	"github.com/meshyard/meshyard/internal/backup/pgdump"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/database/dblock"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/models/previews"
)

type restoreCmd struct {
	Dir string `arg:"" type:"existingdir" help:"Folder of a backup."`
}

// Run restores the objects and then the database. Damaged objects do not prevent the rest. It has
// the database for itself. A restore that was interrupted continues when it is run again; until
// then, no other command uses the database.
func (c *restoreCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	folder, m, err := backup.Open(ctx, c.Dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	lock, begun, err := server.Lock(ctx, s, dblock.Exclusive, "meshyard restore")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	marker := dblock.Unfinished{Source: fmt.Sprintf("backup %s of %s", m.Source, m.CreatedAt.Format(time.RFC3339Nano)),
		Command: "meshyard restore " + dir}
	restored := false
	switch {
	case begun != nil && begun.Source != marker.Source:
		return begun.Error()
	case begun != nil:
		// It was restored completely or not at all, and nothing else has used it since.
		if err := lock.AwaitRestore(ctx); err != nil {
			return err
		}
		empty, err := server.IsEmpty(ctx, s)
		if err != nil {
			return err
		}
		restored = !empty
	}
	if !restored {
		if err := c.check(ctx, s, folder, m); err != nil {
			return err
		}
	}
	var file string
	if m.Database != nil {
		if file, err = folder.Database(m); err != nil {
			return err
		}
	}
	dumped := database.DialectOfURL(s.DatabaseURL).IsDumped()
	if m.Database != nil && begun == nil {
		if dumped {
			if err := pgdump.Prepare(ctx, s.DatabaseURL, file); err != nil {
				return err
			}
		}
		if err := lock.Begin(ctx, marker); err != nil {
			return err
		}
	}
	to, err := bucket.Open(ctx, s.BucketURL)
	if err != nil {
		return err
	}
	defer to.Close()
	copied := newCopying(folder.Objects, to, "restored")
	if err := copied.removePartial(ctx); err != nil {
		return err
	}
	var faults []string
	for o, err := range folder.Objects.Objects(ctx, "") {
		if err != nil {
			return err
		}
		if o.Partial { // left by a later backup that was killed
			continue
		}
		switch err := copied.copy(ctx, o.Key, o.Key); {
		case err == nil:
		case isFault(err) && strings.HasPrefix(o.Key, bucket.DerivedPrefix): // it is generated again
		case isFault(err):
			faults = append(faults, fmt.Sprintf("object %s: %v", o.Key, err))
		default:
			return err
		}
	}
	// The database comes last: when it is there, so are the objects.
	if m.Database != nil && !restored {
		// A program that does not know the lock may have created it meanwhile.
		if err := c.checkEmpty(ctx, s, m); err != nil {
			return err
		}
		if err := server.RestoreDatabase(ctx, s, file); err != nil {
			return err
		}
	}
	if restored && dumped {
		if err := pgdump.Complete(ctx, s.DatabaseURL); err != nil {
			return err
		}
	}
	return withHeldStore(ctx, s, logger, lock, func(store *catalogue.Catalogue) error {
		if err := store.Maintenance.Admin().DeleteUploads(ctx, m.Deleted); err != nil {
			return err
		}
		previews, err := store.Previews.SchedulePreviews(ctx, previews.AgainMissing)
		if err != nil {
			return err
		}
		if m.Database != nil {
			if err := lock.Finish(ctx); err != nil {
				return err
			}
		}
		stdout.printf("restored the state of %s: copied %s (%s)\n", m.CreatedAt.Format(time.RFC3339),
			count(copied.objects, "object"), count(copied.bytes, "byte"))
		if previews > 0 {
			stdout.printf("queued %s that the backup lacks: running servers make them\n", count(previews, "preview"))
		}
		for _, fault := range faults {
			stdout.println(fault)
		}
		err = check(ctx, store, logger, fsck.Options{Grace: server.CollectAfter, Workers: defaultWorkers})
		if len(faults) > 0 {
			err = errors.Join(fmt.Errorf("the backup has %s that cannot be restored; everything else is restored",
				count(len(faults), "object")), err)
		}
		return err
	})
}

// check returns an error if the backup cannot be restored to the settings. It copies nothing.
func (c *restoreCmd) check(ctx context.Context, s config.Settings, folder *backup.Folder, m *backup.Manifest) error {
	dialect := database.DialectOfURL(s.DatabaseURL)
	if m.Engine != string(dialect.Engine()) {
		return fmt.Errorf("the backup is of a %s database, and --database-url is another engine", m.Engine)
	}
	if err := c.checkEmpty(ctx, s, m); err != nil {
		return err
	}
	if m.Database == nil {
		return server.CheckObjects(ctx, s, folder.Objects)
	}
	if err := models.CheckMigration(database.Engine(m.Engine), m.Migration); err != nil {
		return fmt.Errorf("the backup cannot be restored: %w", err)
	}
	if err := c.checkObjects(ctx, folder, m); err != nil {
		return err
	}
	if dialect.IsDumped() {
		return pgdump.Check(s.DatabaseURL, "pg_restore")
	}
	return nil
}

// checkEmpty returns an error if there is a database and the backup contains one, or if both lack
// it.
func (c *restoreCmd) checkEmpty(ctx context.Context, s config.Settings, m *backup.Manifest) error {
	empty, err := server.IsEmpty(ctx, s)
	switch {
	case err != nil:
		return err
	case m.Database == nil && empty:
		return errors.New("the backup does not contain the database: restore it first by other means")
	case m.Database != nil && !empty:
		return errors.New("there is a database already: restore needs an empty one, so that it overwrites nothing; check --data, --database-url and --bucket-url")
	}
	return nil
}

// checkObjects returns an error if the backup has lost all of its objects.
func (c *restoreCmd) checkObjects(ctx context.Context, folder *backup.Folder, m *backup.Manifest) error {
	if m.Objects == 0 {
		return nil
	}
	for _, err := range folder.Objects.Objects(ctx, "") {
		return err
	}
	return fmt.Errorf("%s: has none of the %s of the backup: copy the folder completely", c.Dir,
		count(m.Objects, "object"))
}
