package models

import (
	"context"

	"github.com/uptrace/bun"
)

// Objects returns the keys of the parts of a finished preview, without the image sizes that are
// generated on demand.
func (p *Preview) Objects() (keys []string) {
	for _, part := range p.parts() {
		keys = append(keys, p.key(part.Object()))
	}
	return keys
}

// Regenerate schedules a preview again, unless its state has changed since p was read, and reports
// whether it did.
func (s *Store) Regenerate(ctx context.Context, p *Preview) (bool, error) {
	return s.regenerate(ctx, p)
}

// EachFinishedPreview calls fn with pages of the finished previews after an ID, in the order of
// their IDs.
func (s *Store) EachFinishedPreview(ctx context.Context, after int64, fn func(page []*Preview) error) error {
	for {
		var rows []*Preview
		err := s.DB.Write.NewSelect().Model(&rows).ExcludeColumn("mesh", "printing").
			Where("p.id > ? AND p.state = ?", after, PreviewDone).Order("p.id").Limit(ObjectsAtOnce).Scan(ctx)
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
func (s *Store) DerivedFrom(ctx context.Context, sha256 string) (rows []*Preview, err error) {
	err = s.DB.Write.NewSelect().Model(&rows).ExcludeColumn("mesh", "printing").
		Where("p.sha256 = ? AND p.state = ?", sha256, PreviewDone).Scan(ctx)
	return rows, err
}

// MarkDamaged records that the object of a content is damaged, or is not any more. The next upload
// of the same bytes replaces a damaged object.
func (s *Store) MarkDamaged(ctx context.Context, sha256 string, size int64, damaged bool) error {
	return s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := lockContent(ctx, tx, sha256, size)
		if err != nil {
			return err
		}
		c.DamagedAt = nil
		if at := Now(); damaged {
			c.DamagedAt = &at
		}
		_, err = tx.NewUpdate().Model(c).Column("damaged_at").WherePK().Exec(ctx)
		return err
	})
}
