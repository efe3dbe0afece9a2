package previews

import (
	"context"
	"errors"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/models"
)

// Again selects previews to generate again.
type Again string

// The previews to generate again, in addition to those of an older version of the pipeline.
const (
	AgainNone    Again = ""
	AgainMissing Again = "missing" // those with a missing object
	AgainFailed  Again = "failed"
	AgainAll     Again = "all"
)

// SchedulePreviews schedules the previews that finalized files lack, and those to generate again.
// It returns their number. Servers generate them.
func (s *Store) SchedulePreviews(ctx context.Context, again Again) (scheduled int, err error) {
	if err := s.detachPreviews(ctx); err != nil {
		return 0, err
	}
	scheduled, err = s.scheduleFirstPreviews(ctx)
	if err != nil {
		return scheduled, err
	}
	err = EachPreview(ctx, s.core.DB.Write, again.where, func(p *models.Preview) error {
		if again == AgainMissing && p.Version == preview.Version {
			if key, err := s.missingPart(ctx, p); key == "" || err != nil {
				return err
			}
		}
		asked, err := s.Regenerate(ctx, p)
		if asked {
			scheduled++
		}
		return err
	})
	return scheduled, err
}

// detachPreviews detaches files from previews that failed in an older version of the pipeline and
// that this version would not make, such as those of drawings as images. They would fail again.
func (s *Store) detachPreviews(ctx context.Context) error {
	failed := func(q *bun.SelectQuery) {
		q.Where("p.state = ? AND p.version < ?", models.PreviewFailed, preview.Version)
	}
	return EachPreview(ctx, s.core.DB.Write, failed, func(p *models.Preview) error {
		var files []*models.File
		err := s.core.DB.Write.NewSelect().Model(&files).Column("f.id", "f.name", "f.content_type").
			Where("f.preview_id = ? AND f.preview_id <> 0", p.ID).Scan(ctx)
		for _, f := range files {
			if err == nil && s.core.SubjectOf(f) != p.Subject {
				_, err = s.core.DB.Write.NewUpdate().Model(f).Set("preview_id = 0").Where("id = ? AND preview_id = ?", f.ID, p.ID).
					Exec(ctx)
			}
		}
		return err
	})
}

// where selects the previews that may have to be generated again.
func (again Again) where(q *bun.SelectQuery) {
	// Those without files are collected. preview_id <> 0 is the condition of the index.
	q.Where("EXISTS (SELECT 1 FROM files AS f WHERE f.preview_id = p.id AND f.preview_id <> 0)")
	switch again {
	case AgainAll:
		q.Where("p.state IN (?, ?)", models.PreviewDone, models.PreviewFailed)
	case AgainFailed:
		q.Where("p.state = ? OR p.version < ?", models.PreviewFailed, preview.Version)
	case AgainMissing:
		q.Where("p.state = ? OR p.version < ?", models.PreviewDone, preview.Version)
	default:
		q.Where("p.version < ?", preview.Version)
	}
}

// Regenerate schedules a preview again, unless its state has changed since p was read, and reports
// whether it did. A preview of a newer version of the pipeline keeps its version.
func (s *Store) Regenerate(ctx context.Context, p *models.Preview) (bool, error) {
	updated, err := s.core.DB.Write.NewUpdate().Model((*models.Preview)(nil)).
		Set("state = ?, version = ?, attempts = 0, error = '', reason = '', progress = 0, beat_at = ?", models.PreviewWaiting,
			max(p.Version, preview.Version), models.Now()).
		Where("id = ? AND state = ? AND attempts = ?", p.ID, p.State, p.Attempts).Exec(ctx)
	if err != nil {
		return false, err
	}
	n, err := updated.RowsAffected()
	return n > 0, err
}

// ErrGenerating means that a part of a preview is being generated.
var ErrGenerating = errors.New("the preview is being generated")

// RegeneratePreview schedules the preview of a file again, because an object with the tag is
// missing. It returns NotFound if no preview of the file has the tag, and otherwise ErrGenerating.
func (s *Store) RegeneratePreview(ctx context.Context, fileID int64, tag string) error {
	files, err := s.core.FilesByID(ctx, models.AllFileFields, []int64{fileID})
	if err != nil || files[fileID] == nil {
		return errors.Join(err, models.NoSuch("file", fileID))
	}
	p := files[fileID].Preview
	if p == nil || p.Tag() != tag {
		return models.NoSuch("file", fileID)
	}
	if p.State == models.PreviewDone {
		if _, err := s.Regenerate(ctx, p); err != nil {
			return err
		}
	}
	return ErrGenerating
}

// scheduleFirstPreviews schedules the previews that finalized files lack, such as files of versions
// without previews.
func (s *Store) scheduleFirstPreviews(ctx context.Context) (scheduled int, err error) {
	for last := int64(0); ; {
		var rows []*models.File
		err := s.core.DB.Write.NewSelect().Model(&rows).Column("f.id", "f.name", "f.content_type", "f.sha256", "f.owner_id").
			Where("f.id > ? AND f.state = ? AND f.preview_id = 0 AND f.sha256 <> ''", last, models.Finalized).Order("f.id").
			Limit(models.ObjectsAtOnce).Scan(ctx)
		if err != nil {
			return scheduled, err
		}
		if len(rows) == 0 {
			return scheduled, nil
		}
		for _, f := range rows {
			last = f.ID
			if s.core.SubjectOf(f) == "" {
				continue
			}
			err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
				if err := models.HoldContent(ctx, tx, f.SHA256); err != nil {
					return err
				}
				id, state, err := s.core.SchedulePreview(ctx, tx, f)
				if err != nil {
					return err
				}
				_, err = tx.NewUpdate().Model(f).Set("preview_id = ?", id).WherePK().Exec(ctx)
				if err != nil || state != models.PreviewFailed {
					return err
				}
				return s.core.Raise(ctx, tx, models.FilesProcessed{Files: []*models.File{f}, Result: state})
			})
			if err != nil {
				return scheduled, err
			}
			scheduled++
		}
	}
}
