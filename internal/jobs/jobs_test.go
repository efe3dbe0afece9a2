package jobs

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/database"
)

// TestReindexerSchedule checks that the reindexer of River does not run on SQLite, where it would
// log errors every day.
func TestReindexerSchedule(t *testing.T) {
	t.Parallel()
	if s := engines[database.Postgres].reindex; s != nil {
		t.Errorf("postgres: got %v, want River's default", s)
	}
	s := engines[database.SQLite].reindex
	if s == nil || s.Next(time.Now()).Before(time.Now().AddDate(100, 0, 0)) {
		t.Errorf("sqlite: got %v, want a schedule that never runs", s)
	}
}

// TestPeriodicRunsDoNotOverlap checks that a run of a periodic job is skipped while the previous
// one is still running, and that a run that failed or panicked does not block later ones.
func TestPeriodicRunsDoNotOverlap(t *testing.T) {
	t.Parallel()
	runs, failure := 0, errors.New("failed")
	var run func() error
	work := periodic[foldCounts](func(context.Context) error {
		runs++
		switch runs {
		case 1:
			if err := run(); err != nil || runs != 1 {
				t.Errorf("a run within a run: %v, %d runs", err, runs)
			}
			return failure
		case 2:
			panic("no")
		}
		return nil
	})
	run = func() error { return work(t.Context(), nil) }
	if err := run(); err != failure {
		t.Errorf("got the error %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = run()
	}()
	if err := run(); err != nil || runs != 3 {
		t.Errorf("after a failure and a panic: %v, %d runs, want 3", err, runs)
	}
}

// TestCollectingGarbageTakesLong checks that a run of CollectGarbage may take longer than other
// jobs, and that it is not started again on another server meanwhile.
func TestCollectingGarbageTakesLong(t *testing.T) {
	t.Parallel()
	w := newCollector(func(ctx context.Context) error { return ctx.Err() })
	if got := w.Timeout(nil); got < 5*jobTimeout || got > CollectEvery {
		t.Errorf("a run may take %s", got)
	}
	if err := w.Work(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
