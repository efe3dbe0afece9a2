package previews

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/models"
)

const (
	maxPreviewAttempts = 3

	// previewOutage is the time until the next attempt after an outage. It doubles with each outage of
	// the same preview up to maxPreviewOutage, because the disk may be unable to read only this file.
	previewOutage    = 30 * time.Second
	maxPreviewOutage = 10 * time.Minute

	// previewBeat is the interval of the heartbeats of a worker. A worker without a heartbeat for
	// previewLost is considered dead.
	previewBeat = time.Second
	previewLost = 30 * time.Second
	// previewAhead is longer than any wait. A later time was set by a clock that was ahead, and is
	// ignored.
	previewAhead = time.Hour
	// previewShare is the period in which owners get equal shares of the processing time.
	previewShare = 10 * time.Minute
)

// previewTurns counts the previews that this process is generating.
type previewTurns struct {
	mu     sync.Mutex
	owners map[int64]int // number of previews in progress, by owner
}

// full returns the owners whose further previews must wait, because their previews occupy the only
// worker, or all workers except one. So one owner cannot occupy several workers alone. The list is
// never empty.
func (t *previewTurns) full(workers int) []int64 {
	owners := []int64{-1} // no user: NOT IN an empty list is never true
	for owner, n := range t.owners {
		if n >= max(1, workers-1) {
			owners = append(owners, owner)
		}
	}
	return owners
}

func (t *previewTurns) begin(owner int64) {
	if t.owners == nil {
		t.owners = make(map[int64]int)
	}
	t.owners[owner]++
}

func (t *previewTurns) end(owner int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.owners[owner]--; t.owners[owner] == 0 {
		delete(t.owners, owner)
	}
}

// claimable is the condition for waiting previews and for those whose worker is dead, without those
// that only a newer version of the pipeline may generate: nodes of several versions can run during
// an upgrade. Its first part lets both engines use the partial index.
const claimable = "state IN ('waiting', 'running') AND (state = 'waiting' AND beat_at <= ? OR state = 'running' AND beat_at <= ? OR beat_at > ?) AND version <= ?"

// claimPreview assigns the next preview to the caller, or returns nil if there is none. The next
// one is the oldest preview of the owner whose previews took the least time recently. The number of
// the attempt distinguishes the caller from earlier workers, which may still be alive. The caller
// must call end after the work.
func (s *Store) claimPreview(ctx context.Context) (p *models.Preview, end func(), err error) {
	s.generating.mu.Lock()
	defer s.generating.mu.Unlock()
	at, full := models.Now(), s.generating.full(s.core.Options.PreviewWorkers)
	lost, ahead := at.Add(-previewLost), at.Add(previewAhead)
	// A read comes first, because on SQLite it does not wait for the writer.
	ready, err := s.core.DB.Read.NewSelect().Table("previews").Where(claimable, at, lost, ahead, preview.Version).
		Where("owner_id NOT IN (?)", bun.List(full)).Exists(ctx)
	if err != nil || !ready {
		return nil, nil, err
	}
	oldest := s.core.DB.Write.NewSelect().Table("previews").ColumnExpr("owner_id, min(id) AS id").
		Where(claimable, at, lost, ahead, preview.Version).Where("owner_id NOT IN (?)", bun.List(full)).GroupExpr("owner_id")
	took := s.core.DB.Write.NewSelect().TableExpr("previews AS r").ColumnExpr("coalesce(sum(r.took_ms), 0)").
		Where("r.owner_id = o.owner_id AND r.begun_at > ?", at.Add(-previewShare))
	next := s.core.DB.Write.NewSelect().TableExpr("(?) AS o", oldest).ColumnExpr("o.id").OrderExpr("(?), o.id", took).
		Limit(1)
	var rows []*models.Preview
	// The conditions are repeated: if two nodes choose the same preview, PostgreSQL evaluates them
	// again for the second one.
	err = s.core.DB.Write.NewUpdate().Model(&rows).Set("state = ?", models.PreviewRunning).Set("attempts = attempts + 1").
		Set("stage = ''").Set("progress = 0").
		Set("error = ''").Set("version = ?", preview.Version).Set("beat_at = ?", at).Set("begun_at = ?", at).
		Set("took_ms = 0").
		Where("id = (?)", next).Where(claimable, at, lost, ahead, preview.Version).
		Returning("id, sha256, subject, version, state, owner_id, attempts, outages, begun_at, beat_at").Scan(ctx)
	if err != nil || len(rows) == 0 {
		return nil, nil, models.IgnoreNoRows(err)
	}
	p = rows[0]
	s.generating.begin(p.OwnerID)
	return p, func() { s.generating.end(p.OwnerID) }, nil
}

// beat stores the progress of the work every second until stop is called. The caller reports
// progress by calling at.
func (s *Store) beat(ctx context.Context, p *models.Preview) (at func(stage string, progress float64), stop func()) {
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
			q := s.core.DB.Write.NewUpdate().Model(p).Set("stage = ?", stage).Set("progress = ?", progress)
			mu.Unlock()
			at := models.Now()
			// An error is ignored: the next heartbeat follows.
			_, _ = attempt(q, p).Set("beat_at = ?", at).Set("took_ms = ?", took(p, at)).Exec(ctx)
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

// attempt restricts an update to a preview that is still assigned to the caller. Comparing the
// number of the attempt is not enough, because it starts from 1 again when the preview is scheduled
// again.
func attempt(q *bun.UpdateQuery, p *models.Preview) *bun.UpdateQuery {
	return q.Where("id = ? AND state = ? AND attempts = ? AND begun_at = ?", p.ID, models.PreviewRunning, p.Attempts,
		p.BegunAt)
}

// took returns the duration of the attempt so far in milliseconds.
func took(p *models.Preview, at time.Time) int64 { return max(1, at.Sub(*p.BegunAt).Milliseconds()) }

// failPreview marks a preview as failed, because another attempt would fail again. why says in
// English to the owner of the file what reason means.
func (s *Store) failPreview(ctx context.Context, p *models.Preview, reason preview.Reason, why string) error {
	p.State = models.PreviewFailed
	return s.endPreview(ctx, p, func(q *bun.UpdateQuery, at time.Time) {
		q.Set("state = ?", models.PreviewFailed).Set("error = ?", why).Set("reason = ?", reason).Set("beat_at = ?", at).
			Set("outages = 0")
	})
}

// retryPreview schedules a preview again after a failure that may not be caused by the file. It
// waits longer after each attempt, and fails after three attempts.
func (s *Store) retryPreview(ctx context.Context, p *models.Preview, why string) error {
	if p.Attempts >= maxPreviewAttempts {
		return s.failPreview(ctx, p, preview.Interrupted, fmt.Sprintf("It was tried three times. %s", why))
	}
	p.State = models.PreviewWaiting
	return s.endPreview(ctx, p, func(q *bun.UpdateQuery, at time.Time) {
		q.Set("state = ?", models.PreviewWaiting).
			Set("beat_at = ?", at.Add(time.Duration(p.Attempts*p.Attempts)*2*time.Second)).Set("outages = 0")
	})
}

// releasePreview schedules a preview again because the server stops or the machine is overloaded.
// The attempt does not count.
func (s *Store) releasePreview(ctx context.Context, p *models.Preview) error {
	return s.endPreview(ctx, p, func(q *bun.UpdateQuery, at time.Time) {
		q.Set("state = ?", models.PreviewWaiting).Set("attempts = attempts - 1").Set("beat_at = ?", at)
	})
}

// postponePreview schedules a preview again because the bucket is unavailable or full. The attempt
// does not count.
func (s *Store) postponePreview(ctx context.Context, p *models.Preview) error {
	return s.endPreview(ctx, p, func(q *bun.UpdateQuery, at time.Time) {
		wait := min(previewOutage<<min(p.Outages, 10), maxPreviewOutage)
		q.Set("state = ?", models.PreviewWaiting).Set("attempts = attempts - 1").Set("outages = outages + 1").
			Set("beat_at = ?", at.Add(wait))
	})
}

func (s *Store) endPreview(ctx context.Context, p *models.Preview, set func(q *bun.UpdateQuery, at time.Time)) error {
	return s.core.DB.InTx(context.WithoutCancel(ctx), func(ctx context.Context, tx bun.Tx) error {
		at := models.Now()
		q := tx.NewUpdate().Model(p).Set("stage = ''").Set("progress = 0").Set("took_ms = ?", took(p, at))
		set(q, at)
		var states []models.PreviewState
		err := attempt(q, p).Returning("state").Scan(ctx, &states)
		if err := models.IgnoreNoRows(err); err != nil || len(states) == 0 || states[0] != models.PreviewFailed {
			return err
		}
		return s.core.Raise(ctx, tx, models.PreviewEnded{PreviewID: p.ID, Result: models.PreviewFailed})
	})
}
