package server

import (
	"context"
	"errors"
	"time"
)

// rankFor is about how long things are ranked at a time. Ranking then rests for rankRest times as
// long as it took: the popularity of a thing is computed from all its recent actions, which takes
// long for many things and for very popular ones.
const (
	rankFor  = 200 * time.Millisecond
	rankRest = 9
)

// fold adds changes to the stored counts and then to the popularity of things. It is a periodic job
// and runs once at a time.
func (a *Server) fold(ctx context.Context) error {
	_, err := a.Store.FoldDownloads(ctx)
	_, err2 := a.Store.FoldCounts(ctx)
	return errors.Join(err, err2, a.rank(ctx))
}

func (a *Server) rank(ctx context.Context) error {
	began := time.Now()
	if began.Before(a.rankAfter) {
		return nil
	}
	defer func() { a.rankAfter = time.Now().Add(rankRest * time.Since(began)) }()
	for time.Since(began) < rankFor {
		if ranked, err := a.Store.RankThings(ctx); err != nil || ranked == 0 {
			return err
		}
	}
	return nil
}
