package maintenance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// Sweep lists what CollectGarbage removed, or would remove.
type Sweep struct {
	ExpiredUploads int
	PendingObjects []string // objects that no upload refers to, and parts of aborted writes
	ContentObjects []string // objects that no file refers to
	// DerivedObjects are derived from contents that no file refers to, or were derived by an earlier
	// version of the pipeline.
	DerivedObjects []string
	// StagedUploads are the names of uploads of which some bytes have arrived and that no row refers
	// to, including the parts of killed writers in S3.
	StagedUploads []string
	Bytes         int64
	Removed       int // the number of all removed objects

	counted bool // the objects are only counted, not listed
}

// removed adds a removed object to a list.
func (s *Sweep) removed(list *[]string, key string, size int64) {
	s.Removed++
	s.Bytes += size
	if !s.counted {
		*list = append(*list, key)
	}
}

// Objects returns all removed objects.
func (s *Sweep) Objects() []string {
	return slices.Concat(s.PendingObjects, s.ContentObjects, s.DerivedObjects, s.StagedUploads)
}

// maxStuck is the number of objects that cannot be removed after which a collection ends: it is
// probably an outage.
const maxStuck = 100

// CollectGarbage removes what crashed processes and failed clean-ups left behind: expired uploads,
// and objects without a row that are older than grace, which must be longer than an upload takes
// from its last byte to its commit. It may run while servers are running. With dryRun, it only
// returns what it would remove. Without dryRun, it also deletes expired sign-ins, notifications and
// deliveries to webhooks, and unused tags. An object that cannot be removed does not keep the
// others: CollectGarbage then returns both what it removed and an error. It returns ErrNewer, and
// removes nothing, if a newer version has migrated the database.
//
// Contents of which the last file was deleted are removed after Options.KeepDeleted.
func (s *Store) CollectGarbage(ctx context.Context, grace time.Duration, dryRun bool) (*Sweep, error) {
	return s.collect(ctx, grace, dryRun, new(Sweep), true)
}

// CollectDue is CollectGarbage for a server. It lists all contents and derived objects only once in
// sweepEvery, and otherwise removes the contents that a deletion has queued. A listing that was
// interrupted goes on. The removed objects are only counted.
func (s *Store) CollectDue(ctx context.Context, grace time.Duration) (*Sweep, error) {
	due, err := s.sweepDue(ctx)
	if err != nil {
		return nil, err
	}
	return s.collect(ctx, grace, false, &Sweep{counted: true}, due)
}

// collect collects garbage, and lists all contents and derived objects if list is set.
func (s *Store) collect(ctx context.Context, grace time.Duration, dryRun bool, sweep *Sweep,
	list bool) (*Sweep, error) {
	// A newer version may keep objects that only tables refer to which this version does not know.
	if _, err := s.core.DB.Pending(ctx); err != nil {
		return nil, err
	}
	if err := s.expireAll(ctx, sweep, dryRun); err != nil {
		return nil, fmt.Errorf("collect expired uploads: %w", err)
	}
	if !dryRun {
		if err := s.RemoveUnusedTags(ctx); err != nil {
			return nil, fmt.Errorf("collect tags: %w", err)
		}
		if err := s.core.RemoveExpired(ctx); err != nil {
			return nil, err
		}
	}
	cutoff := time.Now().Add(-grace)
	var first error // of those about single objects
	stuck := 0
	collect := func(prefix, within string, removed *[]string,
		remove func(context.Context, bucket.Object) (gone bool, err error)) error {
		return s.eachUnreferenced(ctx, prefix, within, cutoff, func(o bucket.Object) error {
			gone := dryRun
			if !dryRun {
				var err error
				gone, err = remove(ctx, o)
				if err != nil && (ctx.Err() != nil || stuck == maxStuck) {
					return err
				}
				if err != nil {
					first, stuck = cmp.Or(first, fmt.Errorf("%s: %w", o.Key, err)), stuck+1
					return nil
				}
			}
			if gone {
				sweep.removed(removed, o.Key, o.Size)
			}
			return nil
		})
	}
	remove := func(ctx context.Context, o bucket.Object) (gone bool, err error) {
		return true, s.core.Bucket.Remove(ctx, o.Key)
	}
	if err := collect(bucket.PendingPrefix, bucket.PendingPrefix, &sweep.PendingObjects, remove); err != nil {
		return nil, fmt.Errorf("collect pending objects: %w", err)
	}
	if err := s.uploads.CollectStaged(ctx, grace, func(name string, remove func() error) error {
		if !dryRun {
			if err := remove(); err != nil && (ctx.Err() != nil || stuck == maxStuck) {
				return err
			} else if err != nil {
				first, stuck = cmp.Or(first, fmt.Errorf("staged upload %s: %w", name, err)), stuck+1
				return nil
			}
		}
		sweep.removed(&sweep.StagedUploads, name, 0)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("collect staged uploads: %w", err)
	}
	if err := s.previews.CollectPreviews(ctx, cutoff, dryRun); err != nil {
		return nil, fmt.Errorf("collect previews: %w", err)
	}
	if !dryRun {
		if err := s.collectDeleted(ctx, cutoff, sweep); err != nil {
			return nil, fmt.Errorf("collect deleted contents: %w", err)
		}
	}
	if list {
		err := s.eachRange(ctx, sweep.counted, func(prefix, within string) error {
			if prefix == bucket.ContentPrefix {
				return collect(prefix, within, &sweep.ContentObjects, s.CollectContent)
			}
			return collect(prefix, within, &sweep.DerivedObjects, remove)
		})
		if err != nil {
			return nil, fmt.Errorf("collect contents and derived objects: %w", err)
		}
	}
	if stuck > 0 {
		return sweep, fmt.Errorf("cannot remove %d objects, such as %w", stuck, first)
	}
	return sweep, nil
}

func (s *Store) expireAll(ctx context.Context, sweep *Sweep, dryRun bool) error {
	var ids []int64
	err := s.core.DB.Write.NewSelect().Model((*models.File)(nil)).Column("f.id").
		Where("f.state <> ? AND f.expires_at <= ?", models.Finalized, models.Now()).Scan(ctx, &ids)
	if err != nil {
		return err
	}
	sweep.ExpiredUploads = len(ids)
	if dryRun {
		return nil
	}
	for _, id := range ids {
		if err := s.uploads.ExpireUpload(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// eachUnreferenced calls fn with the objects of a range below prefix that no row refers to and that
// were not modified after cutoff. It compares at most objectsAtOnce objects with rows in one
// statement.
func (s *Store) eachUnreferenced(ctx context.Context, prefix, within string, cutoff time.Time,
	fn func(bucket.Object) error) error {
	check := func(objects []bucket.Object) error {
		found, err := s.Referenced(ctx, prefix, objects)
		if err != nil {
			return err
		}
		for _, o := range objects {
			if found[o.Key] {
				continue
			}
			if err := fn(o); err != nil {
				return err
			}
		}
		return nil
	}
	var some []bucket.Object
	for o, err := range s.core.Bucket.Objects(ctx, within) {
		if err != nil {
			return err
		}
		if o.ModTime.After(cutoff) {
			continue
		}
		if some = append(some, o); len(some) == models.ObjectsAtOnce {
			if err := check(some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	if len(some) == 0 {
		return nil
	}
	return check(some)
}

// Referenced returns which of the objects below a prefix, by key, rows refer to.
func (s *Store) Referenced(ctx context.Context, prefix string, objects []bucket.Object) (map[string]bool, error) {
	switch prefix {
	case bucket.PendingPrefix:
		return s.referencedPending(ctx, objects)
	case bucket.ContentPrefix:
		return s.referencedContents(ctx, objects)
	}
	return s.previews.ReferencedDerived(ctx, objects)
}

// referencedPending returns which of the objects, by key, are those of uploads.
func (s *Store) referencedPending(ctx context.Context, objects []bucket.Object) (map[string]bool, error) {
	found, err := s.referenced(ctx, objects, "", "f.object_key", "f.state <> 'finalized' AND f.object_key IN (?)")
	if err != nil {
		return nil, err
	}
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = strings.TrimPrefix(o.Key, bucket.PendingPrefix)
	}
	begun, err := s.uploads.StagedNames(ctx, names)
	for name := range begun {
		found[bucket.PendingPrefix+name] = true
	}
	return found, err
}

// referencedContents returns which of the objects, by key, are those of finalized files, or of
// files that were deleted a short time ago. Files in libraries have no object.
func (s *Store) referencedContents(ctx context.Context, objects []bucket.Object) (map[string]bool, error) {
	found, err := s.referenced(ctx, objects, bucket.ContentPrefix, "f.sha256",
		"f.state = 'finalized' AND f.object_key NOT LIKE 'library/%' AND f.sha256 IN (?)")
	if err != nil {
		return nil, err
	}
	kept, err := s.keptContents(ctx, objects)
	for _, sum := range kept {
		found[bucket.ContentKey(sum)] = true
	}
	return found, err
}

// referenced returns which of the objects, by key, have a file with the key in a column. The column
// does not contain the prefix of the keys.
func (s *Store) referenced(ctx context.Context, objects []bucket.Object, prefix, column,
	where string) (map[string]bool, error) {
	names := make([]string, 0, len(objects))
	for _, o := range objects {
		if !o.Partial {
			names = append(names, strings.TrimPrefix(o.Key, prefix))
		}
	}
	var found []string
	if err := s.core.DB.Write.NewSelect().Model((*models.File)(nil)).Column(column).Where(where, bun.List(names)).
		Scan(ctx, &found); err != nil {
		return nil, err
	}
	referenced := make(map[string]bool, len(found))
	for _, name := range found {
		referenced[prefix+name] = true
	}
	return referenced, nil
}

// CollectContent removes an object below files/ unless a file refers to it by now. It locks the row
// of the content, so a concurrent finalization of the same bytes either was first, and is seen
// here, or waits and stores the object again.
func (s *Store) CollectContent(ctx context.Context, o bucket.Object) (gone bool, err error) {
	if o.Partial {
		return true, s.core.Bucket.Remove(ctx, o.Key)
	}
	sha256 := strings.TrimPrefix(o.Key, bucket.ContentPrefix)
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		gone = false // the content may be in use in a retry
		if _, err := models.LockContent(ctx, tx, sha256, o.Size); err != nil {
			return err
		}
		used, err := tx.NewSelect().Model((*models.File)(nil)).
			Where("f.sha256 = ? AND f.state = ? AND f.object_key NOT LIKE 'library/%'", sha256, models.Finalized).Exists(ctx)
		if err != nil || used {
			return err
		}
		if kept, err := s.isKept(ctx, tx, sha256); err != nil || kept {
			return err
		}
		if err := s.core.Bucket.Remove(ctx, o.Key); err != nil {
			return err
		}
		gone = true
		if _, err := tx.NewDelete().Model((*deletedContent)(nil)).Where("sha256 = ?", sha256).Exec(ctx); err != nil {
			return err
		}
		_, err = tx.NewDelete().Model((*models.Content)(nil)).Where("sha256 = ?", sha256).Exec(ctx)
		return err
	})
	return gone, err
}
