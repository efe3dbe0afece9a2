package previews

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/internal/preview/child"
	"github.com/meshyard/meshyard/models"
)

// GeneratePreview generates the next waiting preview in a child process, and reports whether it may
// be called again at once. Owners take turns; see claimPreview. Any number of goroutines and nodes
// may call it.
//
// A fault of the file is stored with the preview, and is not returned as an error. An attempt that
// ends for other reasons, such as a killed child process, is repeated. There are at most three
// attempts, including those that ended because the server stopped, but not those that ended because
// of an outage, such as a full disk or an unavailable bucket.
func (s *Store) GeneratePreview(ctx context.Context) (again bool, err error) {
	p, end, err := s.claimPreview(ctx)
	if p == nil || err != nil {
		return false, err
	}
	defer end()
	defer func() { s.previewed(p, models.Now()) }()
	if p.Subject.CAD() != "" && s.core.Options.Previews.Converter == nil {
		return true, s.dropPreview(ctx, p)
	}
	if p.Attempts > maxPreviewAttempts {
		return true, s.failPreview(ctx, p, preview.Interrupted,
			"The server stopped three times while it processed this file, so it does not try again.")
	}
	result, err := s.derive(ctx, p)
	if err != nil {
		err = fmt.Errorf("preview %d: %w", p.ID, err)
	}
	var bad *mesh.Error
	var crash *child.CrashError
	var interrupted *child.Interrupted
	switch {
	case err == nil:
		return true, s.finishPreview(ctx, p, result)
	case errors.As(err, &bad):
		return true, s.failPreview(ctx, p, preview.ReasonOf(bad), bad.Message)
	case errors.As(err, &crash):
		why := "The preview process crashed on this file; the log of the server has the details."
		return true, errors.Join(err, s.failPreview(ctx, p, preview.Crashed, why))
	case ctx.Err() != nil, errors.As(err, &interrupted) && interrupted.Starved:
		return true, s.releasePreview(ctx, p)
	case errors.As(err, &interrupted):
		return true, errors.Join(err, s.retryPreview(ctx, p, interrupted.Message))
	case outage.Of(err) != nil:
		return false, errors.Join(err, s.postponePreview(ctx, p))
	}
	return true, errors.Join(err,
		s.retryPreview(ctx, p, "The file is not the cause; the log of the server has the details."))
}

// previewed passes the outcome and the duration of an attempt to Events.Previewed.
func (s *Store) previewed(p *models.Preview, at time.Time) {
	if s.core.Options.Events.Previewed == nil {
		return
	}
	outcome := "released"
	switch p.State {
	case models.PreviewDone:
		outcome = "done"
	case models.PreviewFailed:
		outcome = "failed"
	case models.PreviewWaiting:
		outcome = "retried"
	}
	s.core.Options.Events.Previewed(outcome, at.Sub(*p.BegunAt))
}

// derive generates the parts and stores them in the bucket.
func (s *Store) derive(ctx context.Context, p *models.Preview) (preview.Result, error) {
	source, err := s.core.OpenContent(ctx, p.SHA256)
	if errors.Is(err, bucket.ErrNotExist) {
		return preview.Result{}, mesh.Errorf(mesh.Reason(preview.Missing), "The content of this file is missing.")
	}
	if err != nil {
		return preview.Result{}, err
	}
	defer source.Close()
	at, stop := s.beat(ctx, p)
	defer stop()
	put := func(part preview.Part, write func(io.Writer) error) error {
		return s.core.Bucket.PutDerived(ctx, p.Key(part.Object()), part.ContentType, write)
	}
	result, _, err := s.core.Options.Previews.Derive(ctx, source.File, p.Subject, put, at)
	return result, err
}

// dropPreview detaches a preview that this server cannot make from its files, and deletes it. Its
// converter was turned off while it was waiting. SchedulePreviews makes it again with a converter.
func (s *Store) dropPreview(ctx context.Context, p *models.Preview) error {
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := models.HoldContent(ctx, tx, p.SHA256); err != nil {
			return err
		}
		if _, err := tx.NewUpdate().Table("files").Set("preview_id = 0").Where("preview_id = ? AND preview_id <> 0", p.ID).
			Exec(ctx); err != nil {
			return err
		}
		_, err := tx.NewDelete().Model(p).WherePK().Exec(ctx)
		return err
	})
}

// finishPreview stores the result of an attempt, whose parts are in the bucket.
func (s *Store) finishPreview(ctx context.Context, p *models.Preview, r preview.Result) error {
	p.State, p.Stage, p.Progress, p.BeatAt, p.Outages = models.PreviewDone, "", 1, models.Now(), 0
	p.TookMS = took(p, p.BeatAt)
	p.ShapeID = 0 // until it is assigned below
	p.ImageFormat, p.Width, p.Height, p.Threejs, p.GLB, p.Mesh = r.ImageFormat, r.Width, r.Height, r.Threejs, r.GLB, r.Mesh
	p.Printing = r.Printing
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if r.Mesh != nil {
			if err := s.core.DB.AdvisoryLock(ctx, tx, shapeLock); err != nil {
				return err
			}
		}
		updated, err := attempt(tx.NewUpdate().Model(p), p).
			Column("state", "stage", "progress", "beat_at", "took_ms", "outages", "picture", "width", "height", "threejs", "glb",
				"mesh", "printing", "shape_id").Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := updated.RowsAffected(); n == 0 || err != nil {
			return err
		}
		if err := s.core.Raise(ctx, tx, models.PreviewEnded{PreviewID: p.ID, Result: models.PreviewDone}); err != nil ||
			r.Mesh == nil {
			return err
		}
		if _, err := tx.NewDelete().Table("shape_keys").Where("preview_id = ?", p.ID).Exec(ctx); err != nil {
			return err
		}
		if err := assignShape(ctx, tx, p); err != nil || len(r.Mesh.Keys) == 0 {
			return err
		}
		keys := make([]shapeKey, len(r.Mesh.Keys))
		for i, key := range r.Mesh.Keys {
			keys[i] = shapeKey{Key: key, PreviewID: p.ID}
		}
		_, err = tx.NewInsert().Model(&keys).On("CONFLICT DO NOTHING").Exec(ctx)
		return err
	})
}

// shapeKey is a key that meshes of the same shape share.
type shapeKey struct {
	bun.BaseModel `bun:"table:shape_keys,alias:k"`

	Key       string `bun:",pk"`
	PreviewID int64  `bun:",pk"`
}
