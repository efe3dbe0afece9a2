package previews

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/image/thumbnail"
	"github.com/meshyard/meshyard/models"
)

// CollectPreviews removes previews without files. It locks the row of the content, so a concurrent
// finalization of the same bytes either was committed before and is visible here, or waits and then
// requests a new preview.
func (s *Store) CollectPreviews(ctx context.Context, cutoff time.Time, dryRun bool) error {
	unused := func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("p.beat_at <= ? AND NOT EXISTS (SELECT 1 FROM files AS f WHERE f.preview_id = p.id AND f.preview_id <> 0)", cutoff)
	}
	for last := int64(0); !dryRun; {
		var rows []*models.Preview
		err := unused(s.core.DB.Write.NewSelect().Model(&rows).Column("p.id", "p.sha256")).Where("p.id > ?", last).
			Order("p.id").Limit(models.ObjectsAtOnce).Scan(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, p := range rows {
			last = p.ID
			err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
				if err := models.HoldContent(ctx, tx, p.SHA256); err != nil {
					return err
				}
				if still, err := unused(tx.NewSelect().Model((*models.Preview)(nil)).Where("p.id = ?", p.ID)).
					Exists(ctx); err != nil || !still {
					return err
				}
				_, err := tx.NewDelete().Model(p).WherePK().Exec(ctx)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// ReferencedDerived returns which of the objects, by key, are parts of previews.
func (s *Store) ReferencedDerived(ctx context.Context, objects []bucket.Object) (map[string]bool, error) {
	contents := make([]string, 0, len(objects))
	for _, o := range objects {
		if !o.Partial {
			contents = append(contents, bucket.ContentOf(o.Key))
		}
	}
	var rows []*models.Preview
	if err := s.core.DB.Write.NewSelect().Model(&rows).Column("p.id", "p.sha256", "p.subject", "p.version").
		Where("p.sha256 IN (?)", bun.List(contents)).Scan(ctx); err != nil {
		return nil, err
	}
	prefixes := make(map[string][]string, len(rows))
	for _, p := range rows {
		prefixes[p.SHA256] = append(prefixes[p.SHA256], p.Key(""))
	}
	referenced := make(map[string]bool, len(objects))
	for _, o := range objects {
		for _, prefix := range prefixes[bucket.ContentOf(o.Key)] {
			referenced[o.Key] = referenced[o.Key] || strings.HasPrefix(o.Key, prefix)
		}
	}
	return referenced, nil
}

// EachPreview calls fn with the previews that where selects, by ID.
func EachPreview(ctx context.Context, db bun.IDB, where func(q *bun.SelectQuery),
	fn func(p *models.Preview) error) error {
	for last := int64(0); ; {
		var rows []*models.Preview
		q := db.NewSelect().Model(&rows).Where("p.id > ?", last).Order("p.id").Limit(models.ObjectsAtOnce)
		where(q)
		if err := q.Scan(ctx); err != nil || len(rows) == 0 {
			return err
		}
		for _, p := range rows {
			last = p.ID
			if err := fn(p); err != nil {
				return err
			}
		}
	}
}

// missingPart returns the key of a missing object of a finished preview, or "" if there is none.
func (s *Store) missingPart(ctx context.Context, p *models.Preview) (string, error) {
	for _, part := range p.Parts() {
		key := p.Key(part.Object())
		if ok, err := s.core.Bucket.Has(ctx, key); !ok || err != nil {
			return key, err
		}
	}
	return "", nil
}

// IsScaledImage reports whether an object key is that of an image size that is generated on demand.
// No snapshot contains such objects.
func IsScaledImage(key string) bool {
	name, derived := strings.CutPrefix(key, bucket.DerivedPrefix)
	parts := strings.Split(name, ".") // SHA-256, subject, version, size, encoding: see Preview.Key
	if !derived || len(parts) != 5 || parts[3] == thumbnail.Full {
		return false
	}
	_, known := thumbnail.SizeNamed(parts[3])
	return known
}
