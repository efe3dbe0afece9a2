package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/preview"
)

const (
	maxPreviewAttempts = 3
	// previewTimeout bounds the work together with what it waits for requests, which may be four times as long.
	previewTimeout = 9 * time.Minute
	// previewBeat is how often whoever works on a preview gives a sign. One that gave none for previewLost is taken for dead.
	previewBeat = time.Second
	previewLost = 30 * time.Second
)

// MakePreview derives a preview, unless it is there or another process is at it. What is wrong with the bytes is kept with the preview, and no error; an
// error means that trying again may help. After three attempts, those counted that ended with the process, it is given up.
func (s *Store) MakePreview(ctx context.Context, id int64) error {
	p, err := s.claimPreview(ctx, id)
	if p == nil || err != nil {
		return err
	}
	result, err := s.derive(ctx, p)
	var bad *mesh.Error
	switch {
	case err == nil:
		return s.finishPreview(ctx, p, result)
	case errors.As(err, &bad):
		return s.endPreview(ctx, p, PreviewFailed, bad.Message)
	case p.Attempts >= maxPreviewAttempts && errors.Is(err, context.DeadlineExceeded):
		return s.endPreview(context.WithoutCancel(ctx), p, PreviewFailed, fmt.Sprintf("it took longer than %s, three times", previewTimeout))
	case p.Attempts >= maxPreviewAttempts:
		return errors.Join(err, s.endPreview(context.WithoutCancel(ctx), p, PreviewFailed, "it failed three times for reasons that are not in the file; the log of the server tells them"))
	}
	return errors.Join(err, s.endPreview(context.WithoutCancel(ctx), p, PreviewWaiting, ""))
}

// claimPreview makes the caller the one who works on a preview; nil where there is nothing to do. The number of the attempt tells him from
// those before, who may not be dead.
func (s *Store) claimPreview(ctx context.Context, id int64) (*Preview, error) {
	var rows []*Preview
	at := now()
	err := s.db.write.NewUpdate().Model(&rows).Set("state = ?", PreviewRunning).Set("attempts = attempts + 1").Set("stage = ''").Set("progress = 0").
		Set("error = ''").Set("beat_at = ?", at).
		Where("id = ? AND (state = ? OR state = ? AND beat_at < ?)", id, PreviewWaiting, PreviewRunning, at.Add(-previewLost)).Returning("*").Scan(ctx)
	if err != nil || len(rows) == 0 {
		return nil, ignoreNoRows(err)
	}
	p := rows[0]
	if p.Attempts > maxPreviewAttempts {
		return nil, s.endPreview(ctx, p, PreviewFailed, "the server ended three times while it worked on this file, so it is not tried again")
	}
	return p, nil
}

// derive makes the parts and puts them into the bucket.
func (s *Store) derive(ctx context.Context, p *Preview) (preview.Result, error) {
	source, err := s.bucket.OpenSource(ctx, bucket.ContentKey(p.SHA256))
	if errors.Is(err, bucket.ErrNotExist) {
		return preview.Result{}, mesh.Errorf(mesh.Empty, "the bytes of this file are gone")
	}
	if err != nil {
		return preview.Result{}, err
	}
	defer source.Close()
	ctx, cancel := context.WithTimeout(ctx, previewTimeout)
	defer cancel()
	at, stop := s.beat(ctx, p)
	defer stop()
	giveWay := s.options.Door.Work()
	put := func(part preview.Part, write func(io.Writer) error) error {
		return s.bucket.PutDerived(ctx, p.Key(part.Name), part.ContentType, func(w io.Writer) error {
			return write(courteous{w, func() { giveWay(ctx) }})
		})
	}
	result, err := preview.Derive(ctx, preview.Source{ReaderAt: source, Size: source.Size}, p.Subject, put, func(stage string, done float64) {
		giveWay(ctx)
		at(stage, done)
	})
	if err == nil || ctx.Err() == nil {
		return result, err
	}
	return result, ctx.Err()
}

// courteous gives way before each write.
type courteous struct {
	io.Writer
	giveWay func()
}

func (c courteous) Write(b []byte) (int, error) {
	c.giveWay()
	return c.Writer.Write(b)
}

// beat keeps with the preview, every second until stop, how far the work is. It is told that by at.
func (s *Store) beat(ctx context.Context, p *Preview) (at func(stage string, progress float64), stop func()) {
	var mu sync.Mutex
	var stage string
	var progress float64
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(previewBeat); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
			mu.Lock()
			q := s.db.write.NewUpdate().Model(p).Set("stage = ?", stage).Set("progress = ?", progress).Set("beat_at = ?", now())
			mu.Unlock()
			_, _ = q.Where("id = ? AND state = ? AND attempts = ?", p.ID, PreviewRunning, p.Attempts).Exec(ctx) // the next one tells more
		}
	}()
	return func(s string, p float64) {
			mu.Lock()
			stage, progress = s, p
			mu.Unlock()
		}, func() {
			cancel()
			<-ended
		}
}

// endPreview ends an attempt that made nothing.
func (s *Store) endPreview(ctx context.Context, p *Preview, state PreviewState, why string) error {
	_, err := s.db.write.NewUpdate().Model(p).Set("state = ?", state).Set("stage = ''").Set("progress = 0").Set("error = ?", why).Set("beat_at = ?", now()).
		Where("id = ? AND state = ? AND attempts = ?", p.ID, PreviewRunning, p.Attempts).Exec(ctx)
	return err
}

// finishPreview keeps what an attempt made, whose parts are in the bucket.
func (s *Store) finishPreview(ctx context.Context, p *Preview, r preview.Result) error {
	attempt := p.Attempts
	p.State, p.Stage, p.Progress, p.BeatAt = PreviewDone, "", 1, now()
	p.ShapeID = 0 // until it is assigned below
	p.Picture, p.Width, p.Height, p.Threejs, p.GLB, p.Mesh = r.Picture, r.Width, r.Height, r.Threejs, r.GLB, r.Mesh
	return s.db.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if r.Mesh != nil {
			if err := s.db.lockShapes(ctx, tx); err != nil {
				return err
			}
		}
		updated, err := tx.NewUpdate().Model(p).Column("state", "stage", "progress", "beat_at", "picture", "width", "height", "threejs", "glb", "mesh", "shape_id").
			Where("id = ? AND state = ? AND attempts = ?", p.ID, PreviewRunning, attempt).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := updated.RowsAffected(); n == 0 || err != nil || r.Mesh == nil {
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

// shapeKey is a name that meshes of the same shape share.
type shapeKey struct {
	bun.BaseModel `bun:"table:shape_keys,alias:k"`

	Key       string `bun:",pk"`
	PreviewID int64  `bun:",pk"`
}

// ResumePreviews puts to work again what nobody gave a sign of for a while: of those who were at it the process died, or the work got lost.
func (s *Store) ResumePreviews(ctx context.Context) (resumed int, err error) {
	err = s.db.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var rows []*Preview
		lost := tx.NewSelect().Model(&rows).Column("p.id").Where("p.state IN (?, ?) AND p.beat_at < ?", PreviewWaiting, PreviewRunning, now().Add(-2*previewLost)).Order("p.id").Limit(1000)
		if err := s.db.forUpdate(lost).Scan(ctx); err != nil || len(rows) == 0 {
			return err
		}
		for _, p := range rows {
			// Those that wait because there is much to do are not asked for again soon.
			if _, err := tx.NewUpdate().Model(p).Set("beat_at = CASE WHEN state = ? THEN ? ELSE beat_at END", PreviewWaiting, now().Add(10*time.Minute)).WherePK().Exec(ctx); err != nil {
				return err
			}
			if err := s.enqueue(ctx, tx, Work{MakePreview: p.ID}); err != nil {
				return err
			}
		}
		resumed = len(rows)
		return nil
	})
	return resumed, err
}
