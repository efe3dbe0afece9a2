package maintenance

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// deletedContent says that a finalized file with a content was deleted. A trigger inserts the row
// in the transaction of the deletion, because files are deleted in many places. Another file may
// have the same content.
type deletedContent struct {
	bun.BaseModel `bun:"table:deleted_contents,alias:dc"`

	ID        int64  `bun:",pk,autoincrement"`
	SHA256    string `bun:"sha256"`
	DeletedAt time.Time
}

// keptSince returns the time since which deleted content is kept.
func (s *Store) keptSince() time.Time { return models.Now().Add(-s.core.Options.KeepDeleted) }

// keptContents returns the SHA-256 of the contents that are kept although they are deleted.
func (s *Store) keptContents(ctx context.Context, objects []bucket.Object) (sums []string, err error) {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = strings.TrimPrefix(o.Key, bucket.ContentPrefix)
	}
	err = s.core.DB.Write.NewSelect().Model((*deletedContent)(nil)).Column("dc.sha256").
		Where("dc.sha256 IN (?) AND dc.deleted_at > ?", bun.List(names), s.keptSince()).Scan(ctx, &sums)
	return sums, err
}

// isKept reports whether a content is kept although it is deleted.
func (s *Store) isKept(ctx context.Context, tx bun.Tx, sha256 string) (bool, error) {
	return tx.NewSelect().Model((*deletedContent)(nil)).Where("dc.sha256 = ? AND dc.deleted_at > ?", sha256,
		s.keptSince()).Exists(ctx)
}

// collectDeleted removes the contents that were deleted before KeepDeleted and before cutoff,
// unless a file refers to them. So it works in proportion to what was deleted, not to what is
// stored.
func (s *Store) collectDeleted(ctx context.Context, cutoff time.Time, sweep *Sweep) error {
	before := s.keptSince()
	if cutoff.Before(before) {
		before = cutoff
	}
	for last := int64(0); ; {
		var rows []*deletedContent
		err := s.core.DB.Write.NewSelect().Model(&rows).Where("dc.id > ? AND dc.deleted_at <= ?", last, before).
			Order("dc.id").Limit(models.ObjectsAtOnce).Scan(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		var ids []int64
		for _, row := range rows {
			last = row.ID
			o, err := s.core.Bucket.Stat(ctx, bucket.ContentKey(row.SHA256))
			if ignored := ignoreMissing(err); ignored != nil {
				return ignored
			}
			if err == nil {
				gone, err := s.CollectContent(ctx, o)
				if err != nil {
					return err
				}
				if gone {
					sweep.removed(&sweep.ContentObjects, o.Key, o.Size)
				}
			}
			ids = append(ids, row.ID)
		}
		// A content that is in use, or kept because of a later deletion, has another row when it becomes
		// garbage.
		if _, err := s.core.DB.Write.NewDelete().Model((*deletedContent)(nil)).Where("id IN (?)", bun.List(ids)).
			Exec(ctx); err != nil {
			return err
		}
	}
}
