package models

import (
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestPreviewQueue checks the state of the queue of previews: with none, with one that waits, and
// with one that is being made.
func TestPreviewQueue(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		want := func(waiting, running int, oldest time.Duration) {
			t.Helper()
			q, err := s.PreviewQueue(ctx)
			if err != nil || q.Waiting != waiting || q.Running != running || q.Oldest < oldest || q.Oldest > oldest+time.Hour {
				t.Errorf("got %+v, %v; want %d waiting, %d running, the oldest for %s", q, err, waiting, running, oldest)
			}
		}
		want(0, 0, 0)
		published(t, s, ada)
		want(1, 0, 0)
		if _, err := s.db.Write.NewUpdate().Model((*Preview)(nil)).Set("beat_at = ?", now().Add(-5*time.Hour)).Where("true").Exec(ctx); err != nil {
			t.Fatal(err)
		}
		want(1, 0, 5*time.Hour)
		_, end, err := s.claimPreview(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		want(0, 1, 0)
	})
}
