package previews

import (
	"context"
	"time"

	"github.com/meshyard/meshyard/models"
)

// FailedPreview is a preview that failed, with the first of the files that it belongs to.
type FailedPreview struct {
	ID       int64
	FileID   int64
	FileName string
	Owner    string // the username of the owner of the file
	FailedAt time.Time
	Error    string
}

// EachFailedPreview calls fn with every preview that failed, in the order of their IDs.
func (a Admin) EachFailedPreview(ctx context.Context, fn func(FailedPreview) error) error {
	for last := int64(0); ; {
		var rows []FailedPreview
		// preview_id <> 0 is the condition of the index.
		err := a.store.core.DB.Read.NewSelect().TableExpr("previews AS p").
			ColumnExpr("p.id, f.id AS file_id, f.name AS file_name, u.username AS owner, p.beat_at AS failed_at, p.error").
			Join("JOIN files AS f ON f.id = (SELECT min(o.id) FROM files AS o WHERE o.preview_id = p.id AND o.preview_id <> 0)").
			Join("JOIN users AS u ON u.id = f.owner_id").
			Where("p.state = ? AND p.id > ?", models.PreviewFailed, last).OrderExpr("p.id").Limit(models.ObjectsAtOnce).
			Scan(ctx, &rows)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, f := range rows {
			last = f.ID
			if err := fn(f); err != nil {
				return err
			}
		}
	}
}

// RetryPreview schedules a failed preview again. It returns NotFound if there is no such preview,
// and Conflict if it has not failed.
func (a Admin) RetryPreview(ctx context.Context, id int64) error {
	p, err := a.store.core.ReadPreview(ctx, id)
	if err != nil {
		return err
	}
	scheduled := false
	if p.State == models.PreviewFailed {
		if scheduled, err = a.store.Regenerate(ctx, p); err != nil {
			return err
		}
	}
	if !scheduled {
		return models.Fail(models.Conflict, "preview %d has not failed", id)
	}
	return nil
}
