package server

import (
	"context"
	"errors"
	"time"
)

const (
	// After a part of folding, it pauses for pauseTimes as long as it took, so it takes at most a
	// tenth of the time, but for maxPause at most.
	pauseTimes = 9
	maxPause   = 10 * time.Second

	rankFor = 200 * time.Millisecond // about how long things are ranked at a time
)

// fold adds changes to the stored counts and then to the popularity of things. It is a periodic job
// and runs once at a time.
//
// Downloads of many things, each of which changes all indexes of its thing, take long to fold.
// After a pause, more downloads of the same thing are folded together. The popularity of a thing is
// computed from all its recent actions.
func (a *Server) fold(ctx context.Context) error {
	err := a.downloadsFolded.unlessPaused(func() error {
		_, err := a.Store.FoldDownloads(ctx)
		return err
	})
	_, err2 := a.Store.FoldCounts(ctx)
	return errors.Join(err, err2, a.thingsRanked.unlessPaused(func() error {
		for began := time.Now(); time.Since(began) < rankFor; {
			if ranked, err := a.Store.RankThings(ctx); err != nil || ranked == 0 {
				return err
			}
		}
		return nil
	}))
}

// pause is the pause of a part of folding.
type pause struct{ until time.Time }

// unlessPaused does the work, and pauses after it, unless it still pauses from the last time.
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
