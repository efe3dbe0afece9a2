package library

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
)

const (
	beatEvery = 2 * time.Second
	// leaseExpiry is the time without a sign of life after which another scan takes over.
	leaseExpiry = 10 * time.Second
)

// ErrBusy means that another process scans the library.
var ErrBusy = models.Fail(models.Conflict, "another scan of the library is in progress")

// lease makes a scan the only one of its library.
type lease struct {
	store   *Store
	library *Library
	token   string
}

// acquire begins a scan. It returns ErrBusy if another one is in progress.
func (s *Store) acquire(ctx context.Context, l *Library) (*lease, error) {
	at := models.Now()
	held := &lease{s, l, rand.Text()}
	changed, err := s.core.DB.Write.NewUpdate().Model((*Library)(nil)).
		Set("scanner = ?, beat_at = ?, started_at = ?, finished_at = NULL, requested_at = NULL, error = ''", held.token,
			at, at).
		Set("places = 0, places_done = 0, files_found = 0, files_read = 0, things_added = 0, files_added = 0, files_changed = 0, files_moved = 0, files_missing = 0").
		Where("id = ? AND (scanner = '' OR beat_at < ?)", l.ID, at.Add(-leaseExpiry)).Exec(ctx)
	if err != nil {
		return nil, err
	}
	if n, err := changed.RowsAffected(); n == 0 || err != nil {
		return nil, orBusy(err)
	}
	l.StartedAt, l.Counts = &at, Counts{}
	return held, nil
}

func orBusy(err error) error {
	if err != nil {
		return err
	}
	return ErrBusy
}

// keep shows until ctx ends that the scan is alive.
func (h *lease) keep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(beatEvery):
		}
		// If it fails, the next transaction notices that the lease is lost.
		_, _ = h.store.core.DB.Write.NewUpdate().Model((*Library)(nil)).Set("beat_at = ?", models.Now()).
			Where("id = ? AND scanner = ?", h.library.ID, h.token).Exec(ctx)
	}
}

// hold locks the lease in tx and stores the progress. It returns ErrBusy if another scan has taken
// over.
func (h *lease) hold(ctx context.Context, tx bun.Tx, c Counts, places, done int) error {
	changed, err := c.set(tx.NewUpdate().Model((*Library)(nil)).Set("beat_at = ?, places = ?, places_done = ?",
		models.Now(), places, done)).
		Where("id = ? AND scanner = ?", h.library.ID, h.token).Exec(ctx)
	if err != nil {
		return err
	}
	if n, err := changed.RowsAffected(); n == 0 || err != nil {
		return orBusy(err)
	}
	return nil
}

// set adds the counts to an update of a library.
func (c Counts) set(q *bun.UpdateQuery) *bun.UpdateQuery {
	return q.Set("files_found = ?, files_read = ?, things_added = ?, files_added = ?", c.FilesFound, c.FilesRead,
		c.ThingsAdded, c.FilesAdded).
		Set("files_changed = ?, files_moved = ?, files_missing = ?", c.FilesChanged, c.FilesMoved, c.FilesMissing)
}

// release ends the scan with its result.
func (h *lease) release(ctx context.Context, c Counts, failed error) error {
	message, finished := "", new(models.Now())
	if failed != nil {
		message = failed.Error()
	}
	if ctx.Err() != nil { // it was stopped, and continues with the next scan
		finished, message = nil, "the scan was interrupted"
	}
	_, err := c.set(h.store.core.DB.Write.NewUpdate().Model((*Library)(nil))).
		Set("scanner = '', error = ?, finished_at = ?", message, finished).
		Where("id = ? AND scanner = ?", h.library.ID, h.token).Exec(context.WithoutCancel(ctx))
	return err
}
