package server

import (
	"context"
	"errors"
	"time"
)

const (
	// After a part of folding has run, it pauses for pauseTimes its duration, but at most maxPause. So
	// it takes at most a tenth of the time, unless the maximum applies.
	pauseTimes = 9
	maxPause   = 10 * time.Second

	rankFor = 200 * time.Millisecond // approximate duration of one run of ranking

	// maxLog is the size of the write-ahead log of SQLite from which it is truncated. Without readers
	// that always overlap, it has about 4 MB.
	maxLog = 64 << 20
)

// fold adds pending changes to the stored counts, and then updates the popularity of things. It is
// a periodic job and never runs concurrently with itself.
//
// Folding downloads of many things takes long, because it updates the row and all indexes of each
// thing. During a pause, more downloads of the same things accumulate and are folded together. The
// popularity of a thing is likewise computed in one step from all its recent actions.
//
// fold also keeps the write-ahead log of SQLite short, to which it writes itself every few seconds.
func (a *Server) fold(ctx context.Context) error {
	err := a.downloadsFolded.unlessPaused(func() error {
		_, err := a.Store.Activity.FoldDownloads(ctx)
		return err
	})
	_, err2 := a.Store.FoldCounts(ctx)
	return errors.Join(err, err2, a.db.TruncateLog(ctx, maxLog), a.thingsRanked.unlessPaused(func() error {
		for began := time.Now(); time.Since(began) < rankFor; {
			if ranked, err := a.Store.Maintenance.RankThings(ctx); err != nil || ranked == 0 {
				return err
			}
		}
		return nil
	}))
}

// pause limits how often a part of folding runs.
type pause struct{ until time.Time }

// unlessPaused calls work and starts a pause after it. During a pause it does nothing.
func (p *pause) unlessPaused(work func() error) error {
	began := time.Now()
	if began.Before(p.until) {
		return nil
	}
	err := work()
	end := time.Now()
	p.until = end.Add(min(pauseTimes*end.Sub(began), maxPause))
	return err
}
