package models

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
)

// Sweep lists what CollectGarbage removed, or would remove.
type Sweep struct {
	ExpiredUploads int
	PendingObjects []string // objects that no upload refers to, and parts of aborted writes
	ContentObjects []string // objects that no file refers to
	// DerivedObjects are derived from contents that no file refers to, or were derived by an earlier
	// version of the pipeline.
	DerivedObjects []string
	Bytes          int64
}

// Objects returns all removed objects.
func (s *Sweep) Objects() []string {
	return slices.Concat(s.PendingObjects, s.ContentObjects, s.DerivedObjects)
}

// objectsAtOnce is the number of objects that are compared with rows in one statement.
const objectsAtOnce = 500

// CollectGarbage removes what crashed processes and failed clean-ups left behind: expired uploads,
// and objects without a row that are older than grace, which must be longer than an upload takes
// from its last byte to its commit. It may run while servers are running. With dryRun, it only
// returns what it would remove. Without dryRun, it also deletes expired sign-ins, notifications and
// deliveries to webhooks, and unused tags.
func (s *Store) CollectGarbage(ctx context.Context, grace time.Duration, dryRun bool) (*Sweep, error) {
	sweep := new(Sweep)
	if err := s.expireAll(ctx, sweep, dryRun); err != nil {
		return nil, fmt.Errorf("collect expired uploads: %w", err)
	}
	if !dryRun {
		if err := s.forgetSignIns(ctx); err != nil {
			return nil, fmt.Errorf("collect sessions and codes: %w", err)
		}
		if err := s.expireNotifications(ctx); err != nil {
			return nil, fmt.Errorf("collect notifications: %w", err)
		}
		if err := s.removeUnusedTags(ctx); err != nil {
			return nil, fmt.Errorf("collect tags: %w", err)
		}
		if err := s.expireDeliveries(ctx); err != nil {
			return nil, fmt.Errorf("collect deliveries to webhooks: %w", err)
		}
	}
	cutoff := time.Now().Add(-grace)
	old := func(o bucket.Object) bool { return !o.ModTime.After(cutoff) }

	err := s.eachObjects(ctx, bucket.PendingPrefix, old, func(objects []bucket.Object) error {
		named, err := s.namedPending(ctx, objects)
		if err != nil {
			return err
		}
		for _, o := range objects {
			if named[o.Key] != nil {
				continue
			}
			sweep.PendingObjects = append(sweep.PendingObjects, o.Key)
			sweep.Bytes += o.Size
			if dryRun {
				continue
			}
			if err := s.bucket.Remove(ctx, o.Key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("collect pending objects: %w", err)
	}

	err = s.eachObjects(ctx, bucket.ContentPrefix, old, func(objects []bucket.Object) error {
		named, err := s.namedContents(ctx, objects)
		if err != nil {
			return err
		}
		for _, o := range objects {
			if named[o.Key] != nil {
				continue
			}
			gone := dryRun
			if !dryRun {
				if gone, err = s.collectContent(ctx, o); err != nil {
					return err
				}
			}
			if gone {
				sweep.ContentObjects = append(sweep.ContentObjects, o.Key)
				sweep.Bytes += o.Size
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("collect contents: %w", err)
	}
	if err := s.collectPreviews(ctx, cutoff, dryRun); err != nil {
		return nil, fmt.Errorf("collect previews: %w", err)
	}
	err = s.eachObjects(ctx, bucket.DerivedPrefix, old, func(objects []bucket.Object) error {
		named, err := s.namedDerived(ctx, objects)
		if err != nil {
			return err
		}
		for _, o := range objects {
			if named[o.Key] {
				continue
			}
			sweep.DerivedObjects = append(sweep.DerivedObjects, o.Key)
			sweep.Bytes += o.Size
			if dryRun {
				continue
			}
			if err := s.bucket.Remove(ctx, o.Key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("collect derived objects: %w", err)
	}
	return sweep, nil
}

func (s *Store) expireAll(ctx context.Context, sweep *Sweep, dryRun bool) error {
	var ids []int64
	err := s.db.Write.NewSelect().Model((*File)(nil)).Column("f.id").Where("f.state <> ? AND f.expires_at <= ?", Finalized, now()).Scan(ctx, &ids)
	if err != nil {
		return err
	}
	sweep.ExpiredUploads = len(ids)
	if dryRun {
		return nil
	}
	for _, id := range ids {
		if err := s.ExpireUpload(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// eachObjects calls fn with the objects below prefix that match, in batches of at most
// objectsAtOnce.
func (s *Store) eachObjects(ctx context.Context, prefix string, match func(bucket.Object) bool, fn func([]bucket.Object) error) error {
	var some []bucket.Object
	for o, err := range s.bucket.Objects(ctx, prefix) {
		if err != nil {
			return err
		}
		if !match(o) {
			continue
		}
		if some = append(some, o); len(some) == objectsAtOnce {
			if err := fn(some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	if len(some) == 0 {
		return nil
	}
	return fn(some)
}

// namedPending returns the uploads that refer to one of the objects, by key.
func (s *Store) namedPending(ctx context.Context, objects []bucket.Object) (map[string]*File, error) {
	return s.named(ctx, objects, func(o bucket.Object) string { return o.Key },
		"f.state <> 'finalized' AND f.object_key IN (?)", func(f *File) string { return f.ObjectKey })
}

// namedContents returns, for each object that finalized files refer to, one of those files, by key.
func (s *Store) namedContents(ctx context.Context, objects []bucket.Object) (map[string]*File, error) {
	return s.named(ctx, objects, func(o bucket.Object) string { return strings.TrimPrefix(o.Key, bucket.ContentPrefix) },
		"f.state = 'finalized' AND f.sha256 IN (?)", func(f *File) string { return bucket.ContentKey(f.SHA256) })
}

func (s *Store) named(ctx context.Context, objects []bucket.Object, name func(bucket.Object) string, where string, key func(*File) string) (map[string]*File, error) {
	names := make([]string, 0, len(objects))
	for _, o := range objects {
		if !o.Partial {
			names = append(names, name(o))
		}
	}
	var rows []*File
	err := s.db.Write.NewSelect().Model(&rows).Column("f.id", "f.size", "f.sha256", "f.object_key").Where(where, bun.List(names)).Scan(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*File, len(rows))
	for _, f := range rows {
		found[key(f)] = f
	}
	return found, nil
}

// collectContent removes an object below files/ unless a file refers to it by now. It locks the row
// of the content, so a concurrent finalization of the same bytes either was first, and is seen
// here, or waits and stores the object again.
func (s *Store) collectContent(ctx context.Context, o bucket.Object) (gone bool, err error) {
	if o.Partial {
		return true, s.bucket.Remove(ctx, o.Key)
	}
	sha256 := strings.TrimPrefix(o.Key, bucket.ContentPrefix)
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		gone = false // the content may be in use in a retry
		if err := lockContent(ctx, tx, sha256, o.Size); err != nil {
			return err
		}
		used, err := tx.NewSelect().Model((*File)(nil)).Where("f.sha256 = ? AND f.state = ?", sha256, Finalized).Exists(ctx)
		if err != nil || used {
			return err
		}
		if err := s.bucket.Remove(ctx, o.Key); err != nil {
			return err
		}
		gone = true
		_, err = tx.NewDelete().Model((*content)(nil)).Where("sha256 = ?", sha256).Exec(ctx)
		return err
	})
	return gone, err
}
