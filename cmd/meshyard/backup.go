package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/meshyard/meshyard/internal/backup"
	"github.com/meshyard/meshyard/internal/backup/pgdump"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/maintenance"
	"github.com/meshyard/meshyard/models/previews"
)

// snapshotsAtMost is the maximum number of snapshots of one backup. One is normally enough. Another
// is taken if objects of the last one were replaced or removed before they could be copied.
const snapshotsAtMost = 10

// errChanged means that rows were changed or deleted after the snapshot, and that the object which
// they referred to is missing or damaged.
var errChanged = errors.New("objects were replaced while they were copied")

type backupCmd struct {
	Dir        string `arg:"" help:"Folder of the backup: a new one, or one with an earlier backup of the same database, which is replaced."`
	NoDatabase bool   `help:"Copy the objects only, after you backed up the database by other means."`
	Replace    bool   `help:"Replace a backup of another database, and with --no-database one that contains the database."`
	Workers    int    `help:"Objects to copy concurrently. Default: ${default}." default:"8" placeholder:"N"`
}

// Validate implements the interface of kong that checks a command before it runs.
func (c *backupCmd) Validate() error { return checkWorkers(c.Workers) }

func (c *backupCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	if database.DialectOfURL(s.DatabaseURL).IsDumped() && !c.NoDatabase {
		if err := pgdump.Check(s.DatabaseURL, "pg_dump"); err != nil {
			return fmt.Errorf("%w; or back up the database by other means, and then run backup with --no-database", err)
		}
	}
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		folder, err := backup.Create(ctx, c.Dir)
		if err != nil {
			return err
		}
		defer folder.Close()
		id, err := store.Maintenance.Admin().DatabaseID(ctx)
		if err != nil {
			return err
		}
		if !c.Replace {
			if err := folder.CheckReplace(id, !c.NoDatabase); err != nil {
				return err
			}
		}
		source, err := bucket.Open(ctx, s.BucketURL)
		if err != nil {
			return err
		}
		defer source.Close()
		b := &backingUp{settings: s, admin: store.Maintenance.Admin(), id: id, folder: folder,
			copying: newCopying(source, folder.Objects, "copied"), database: !c.NoDatabase, workers: c.Workers}
		m, err := b.run(ctx)
		if err != nil {
			return err
		}
		recordRun(ctx, store, logger, maintenance.LastRun{Command: maintenance.RunBackup, At: m.CreatedAt,
			Problems: len(m.Faults)})
		stdout.printf("the backup contains the state of %s: %s (%s), of which %s (%s) were new\n",
			m.CreatedAt.Format(time.RFC3339),
			count(m.Objects, "object"), count(m.Bytes, "byte"), count(b.newObjects, "object"), count(b.newBytes, "byte"))
		if c.NoDatabase {
			stdout.println("it does not contain the database")
		}
		libraries, err := store.Library.List(ctx)
		if err != nil {
			return err
		}
		for _, l := range libraries {
			if l.Files > 0 {
				stdout.printf("it does not contain the bytes of %s in the library %s: back up its folder, too\n",
					count(int(l.Files), "file"), l.Name)
			}
		}
		for _, fault := range m.Faults {
			stdout.println(fault)
		}
		if len(m.Faults) > 0 {
			return fmt.Errorf("%s of the database are missing from the bucket, damaged or unreadable; the backup contains everything else", count(len(m.Faults), "object"))
		}
		return nil
	})
}

// backingUp is a backup in progress.
type backingUp struct {
	settings config.Settings
	admin    maintenance.Admin
	id       string // of the database
	folder   *backup.Folder
	copying  *copying
	database bool
	workers  int // objects that are copied concurrently

	// of the objects in the backup that this backup copied; set when it is complete
	newObjects int
	newBytes   int64
}

func (b *backingUp) run(ctx context.Context) (*backup.Manifest, error) {
	if err := b.copying.removePartial(ctx); err != nil {
		return nil, err
	}
	// Copy most objects before the snapshot, to keep the snapshot short: on PostgreSQL, vacuum cannot
	// remove dead tuples while it exists.
	for _, prefix := range []string{bucket.ContentPrefix, bucket.DerivedPrefix} {
		if err := b.copyAll(ctx, prefix); err != nil {
			return nil, err
		}
	}
	for attempt := 1; ; attempt++ {
		m, err := b.snapshot(ctx)
		if !errors.Is(err, errChanged) || attempt == snapshotsAtMost {
			return m, err
		}
	}
}

// copyAll copies the objects below a prefix that the backup does not have, several at once.
func (b *backingUp) copyAll(ctx context.Context, prefix string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, b.workers))
	for o, err := range b.copying.from.Objects(ctx, prefix) {
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		if o.Partial || previews.IsScaledImage(o.Key) {
			continue
		}
		group.Go(func() error { return ignore(b.copying.listed(ctx, o), isFault) })
	}
	return group.Wait()
}

// isFault reports whether an object is missing or damaged, or cannot be read.
func isFault(err error) bool {
	return errors.Is(err, bucket.ErrNotExist) || errors.Is(err, bucket.ErrDamaged) || errors.Is(err, bucket.ErrUnreadable)
}

// snapshot takes a snapshot of the database, copies the objects that it refers to, and
// commits the backup.
func (b *backingUp) snapshot(ctx context.Context) (*backup.Manifest, error) {
	dialect, extension := database.DialectOfURL(b.settings.DatabaseURL), ".sqlite"
	if dialect.IsDumped() {
		extension = ".dump"
	}
	m := &backup.Manifest{CreatedAt: time.Now().UTC(), Version: b.settings.Version, Engine: string(dialect.Engine()),
		Source: b.id}
	file, err := b.folder.NewDatabase(m.CreatedAt, extension)
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	err = b.admin.Snapshot(ctx, file, func(snapshot *maintenance.Snapshot) error {
		if b.database && snapshot.Exported != "" {
			if err := pgdump.Dump(ctx, b.settings.DatabaseURL, snapshot.Exported, snapshot.Schema, file); err != nil {
				return err
			}
		}
		var err error
		if m.Migration, err = snapshot.Migration(ctx); err != nil {
			return err
		}
		return snapshot.Objects(ctx, func(o maintenance.SnapshotObject) error {
			err := b.object(ctx, m, o)
			if err == nil {
				keys[o.Key] = true
			}
			return err
		})
	})
	if err == nil {
		err = b.measure(ctx, m, keys)
	}
	if err != nil || !b.database {
		_ = os.Remove(file) // on failure, the next Commit removes it
		file = ""
	}
	if err != nil {
		return nil, err
	}
	return m, b.folder.Commit(ctx, m, file, func(key string) bool { return keys[key] })
}

// object copies an object of the snapshot. It ignores a fault of a derived object. If a file object
// is missing, damaged or unreadable, it checks the current state of the rows: a deleted pending
// upload is added to m.Deleted, and other changes return errChanged. If nothing changed, the object
// is added to m.Faults.
func (b *backingUp) object(ctx context.Context, m *backup.Manifest, o maintenance.SnapshotObject) error {
	err := b.copying.copy(ctx, o.Key, o.Key)
	if errors.Is(err, bucket.ErrNotExist) && o.FileID != 0 {
		// The upload was finalized after the snapshot, and its bytes were stored under another key.
		err = b.copying.copy(ctx, o.Key, bucket.ContentKey(o.SHA256))
	}
	if !isFault(err) || o.SHA256 == "" { // derived objects are generated again
		return ignore(err, isFault)
	}
	switch state, failed := b.admin.RowState(ctx, o); {
	case failed != nil:
		return failed
	case state == maintenance.RowDeleted && o.FileID != 0:
		m.Deleted = append(m.Deleted, o.FileID)
		return nil
	case state != maintenance.RowUnchanged:
		return fmt.Errorf("%w: %w", errChanged, err)
	}
	m.Faults = append(m.Faults, fmt.Sprintf("object %s: %v", o.Key, err))
	return nil
}

func ignore(err error, which func(error) bool) error {
	if which(err) {
		return nil
	}
	return err
}

// measure sets the numbers of objects and bytes of the backup in m, and those of the new ones in b.
// Objects that were copied but are not in the snapshot do not count, because Commit removes them.
func (b *backingUp) measure(ctx context.Context, m *backup.Manifest, keys map[string]bool) error {
	b.newObjects, b.newBytes = 0, 0
	for o, err := range b.folder.Objects.Objects(ctx, "") {
		if err != nil {
			return err
		}
		if !keys[o.Key] {
			continue
		}
		m.Objects++
		m.Bytes += o.Size
		if b.copying.copied[o.Key] {
			b.newObjects++
			b.newBytes += o.Size
		}
	}
	return nil
}

// copying copies objects from one bucket to another.
type copying struct {
	from, to *bucket.Bucket
	verb     string

	mu      sync.Mutex
	objects int
	bytes   int64
	shown   time.Time
	there   map[string]bool // keys that the destination is known to have
	copied  map[string]bool // those of them that were copied
}

func newCopying(from, to *bucket.Bucket, verb string) *copying {
	return &copying{from: from, to: to, verb: verb, shown: time.Now(), there: map[string]bool{}, copied: map[string]bool{}}
}

// listed copies an object from a listing of the source. It sends no request to the source if the
// destination has an object with the same key and size.
func (c *copying) listed(ctx context.Context, o bucket.Object) error {
	if there, err := c.to.Stat(ctx, o.Key); err == nil && there.Size == o.Size {
		c.has(o.Key, 0)
		return nil
	}
	return c.copy(ctx, o.Key, o.Key)
}

// copy copies the object fromKey to toKey, unless the destination has it. It verifies the SHA-256
// of file contents and reports progress at most every ten seconds.
func (c *copying) copy(ctx context.Context, toKey, fromKey string) error {
	c.mu.Lock()
	there := c.there[toKey]
	c.mu.Unlock()
	if there {
		return nil
	}
	sum, _ := strings.CutPrefix(fromKey, bucket.ContentPrefix)
	if sum == fromKey {
		sum = ""
	}
	n, err := bucket.Copy(ctx, c.to, toKey, c.from, fromKey, sum)
	if err != nil {
		return err
	}
	c.has(toKey, n)
	return nil
}

// has records that the destination has an object, of which n bytes were copied.
func (c *copying) has(key string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.there[key] = true
	if n > 0 {
		c.copied[key] = true
		c.objects++
		c.bytes += n
	}
	if time.Since(c.shown) > 10*time.Second {
		c.shown = time.Now()
		fmt.Fprintf(os.Stderr, "%s %s (%s)\n", c.verb, count(c.objects, "object"), count(c.bytes, "byte"))
	}
}

// removePartial removes the incomplete objects that a killed process left in the destination.
func (c *copying) removePartial(ctx context.Context) error {
	for o, err := range c.to.Objects(ctx, "") {
		if err != nil {
			return err
		}
		if !o.Partial {
			continue
		}
		if err := c.to.Remove(ctx, o.Key); err != nil {
			return err
		}
	}
	return nil
}
