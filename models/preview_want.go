package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/preview"
)

// Again says which previews are to be made although they were.
type Again string

// Which previews are made again, beside those of a pipeline that is no more.
const (
	AgainNone   Again = ""
	AgainFailed Again = "failed"
	AgainAll    Again = "all"
)

// WantPreviews asks for the previews that finalized files lack, as files do that were here before previews were, and for those that are to be made again.
// It gives how many that is; servers make them.
func (s *Store) WantPreviews(ctx context.Context, again Again) (wanted int, err error) {
	for last := int64(0); ; {
		var rows []*File
		err := s.db.write.NewSelect().Model(&rows).Column("f.id", "f.name", "f.content_type", "f.sha256").
			Where("f.id > ? AND f.state = ? AND f.preview_id = 0 AND f.sha256 <> ''", last, Finalized).Order("f.id").Limit(objectsAtOnce).Scan(ctx)
		if err != nil {
			return wanted, err
		}
		if len(rows) == 0 {
			break
		}
		for _, f := range rows {
			last = f.ID
			if preview.SubjectOf(f.Name, f.ContentType) == "" {
				continue
			}
			err := s.db.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
				if err := holdContent(ctx, tx, f.SHA256); err != nil {
					return err
				}
				id, err := s.wantPreview(ctx, tx, f)
				if err != nil {
					return err
				}
				_, err = tx.NewUpdate().Model(f).Set("preview_id = ?", id).WherePK().Exec(ctx)
				return err
			})
			if err != nil {
				return wanted, err
			}
			wanted++
		}
	}
	for last := int64(0); ; {
		var rows []*Preview
		q := s.db.write.NewSelect().Model(&rows).Column("p.id").Where("p.id > ?", last).Order("p.id").Limit(objectsAtOnce)
		switch again {
		case AgainAll:
			q.Where("p.state IN (?, ?)", PreviewDone, PreviewFailed)
		case AgainFailed:
			q.Where("p.state = ? OR p.version < ?", PreviewFailed, preview.Version)
		default:
			q.Where("p.version < ?", preview.Version)
		}
		if err := q.Scan(ctx); err != nil || len(rows) == 0 {
			return wanted, err
		}
		for _, p := range rows {
			last = p.ID
			err := s.db.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
				_, err := tx.NewUpdate().Model(p).Set("state = ?, version = ?, attempts = 0, error = '', progress = 0, beat_at = ?", PreviewWaiting, preview.Version, now()).WherePK().Exec(ctx)
				if err != nil {
					return err
				}
				return s.enqueue(ctx, tx, Work{MakePreview: p.ID})
			})
			if err != nil {
				return wanted, err
			}
			wanted++
		}
	}
}
