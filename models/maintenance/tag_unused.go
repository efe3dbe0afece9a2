package maintenance

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
)

// tagsAtOnce is the number of unused tags that one transaction removes.
const tagsAtOnce = 1_000

// RemoveUnusedTags removes the tags that no thing has, not even a draft. While an import is not
// complete, it removes none, because imports create tags before the things that have them.
func (s *Store) RemoveUnusedTags(ctx context.Context) error {
	for {
		var unused []int64
		err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			unused = nil // a retry may find nothing
			// setTags locks tags before it adds them to a thing. Tags that it has locked are skipped. A
			// later setTags waits, and then inserts the tag again.
			q := tx.NewSelect().Model((*models.Tag)(nil)).Column("g.id").Where("g.thing_count <= 0").Where(models.IsUnused).
				Limit(tagsAtOnce)
			if err := s.core.DB.ForUpdateSkipLocked(q).Scan(ctx, &unused); err != nil || len(unused) == 0 {
				return err
			}
			// An import that starts after this check waits for the locks when it needs one of the tags.
			for _, imports := range []any{(*models.ImportRow)(nil), (*models.ArchiveImport)(nil)} {
				if running, err := tx.NewSelect().Model(imports).Exists(ctx); err != nil || running {
					unused = nil
					return err
				}
			}
			// The condition is checked again, because only a statement that starts after the tags are
			// locked sees all things that have them.
			_, err := tx.NewDelete().Model((*models.Tag)(nil)).Where("g.id IN (?)", bun.List(unused)).Where(models.IsUnused).
				Exec(ctx)
			return err
		})
		if err != nil || len(unused) < tagsAtOnce {
			return err
		}
	}
}
