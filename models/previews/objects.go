package previews

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
)

// Objects returns the keys of the parts of a finished preview, without the image sizes that are
// generated on demand.
func Objects(p *models.Preview) (keys []string) {
	for _, part := range p.Parts() {
		keys = append(keys, p.Key(part.Object()))
	}
	return keys
}

// EachFinishedPreview calls fn with pages of the finished previews after an ID, in the order of
// their IDs.
func (s *Store) EachFinishedPreview(ctx context.Context, after int64, fn func(page []*models.Preview) error) error {
	for {
		var rows []*models.Preview
		err := s.core.DB.Write.NewSelect().Model(&rows).ExcludeColumn("mesh", "printing").
			Where("p.id > ? AND p.state = ?", after, models.PreviewDone).Order("p.id").Limit(models.ObjectsAtOnce).Scan(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := fn(rows); err != nil {
			return err
		}
		after = rows[len(rows)-1].ID
	}
}

// DerivedFrom returns the finished previews of a content.
func (s *Store) DerivedFrom(ctx context.Context, sha256 string) (rows []*models.Preview, err error) {
	err = s.core.DB.Write.NewSelect().Model(&rows).ExcludeColumn("mesh", "printing").
		Where("p.sha256 = ? AND p.state = ?", sha256, models.PreviewDone).Scan(ctx)
	return rows, err
}

// MarkDamaged records that the object of a content is damaged, or is not any more. The next upload
// of the same bytes replaces a damaged object.
func (s *Store) MarkDamaged(ctx context.Context, sha256 string, size int64, damaged bool) error {
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := models.LockContent(ctx, tx, sha256, size)
		if err != nil {
			return err
		}
		c.DamagedAt = nil
		if at := models.Now(); damaged {
			c.DamagedAt = &at
		}
		_, err = tx.NewUpdate().Model(c).Column("damaged_at").WherePK().Exec(ctx)
		return err
	})
}
