package previews

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/modelstest"
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
		modelstest.Published(t, s.core, ada)
		want(1, 0, 0)
		if _, err := s.core.DB.Write.NewUpdate().Model((*models.Preview)(nil)).
			Set("beat_at = ?", models.Now().Add(-5*time.Hour)).Where("true").Exec(ctx); err != nil {
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

// TestPostponedPreviews checks that the time between attempts doubles with each outage up to a
// limit, that such previews are counted and reported, and that the next success forgets the
// outages.
func TestPostponedPreviews(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		modelstest.Published(t, s.core, ada)
		claim := func() *models.Preview {
			t.Helper()
			if _, err := s.core.DB.Write.NewUpdate().Model((*models.Preview)(nil)).Set("beat_at = ?", models.Now()).
				Where("state = ?", models.PreviewWaiting).Exec(ctx); err != nil {
				t.Fatal(err)
			}
			p, end, err := s.claimPreview(ctx)
			if err != nil || p == nil {
				t.Fatalf("got %v, %v; want a preview", p, err)
			}
			end()
			return p
		}
		want := func(n int64, finding string) {
			t.Helper()
			if got, err := s.PostponedPreviews(ctx); err != nil || got != n {
				t.Errorf("got %d postponed previews, %v; want %d", got, err, n)
			}
			findings, err := s.DiagnosePreviews(ctx)
			if text := strings.Join(findings, "\n"); err != nil || finding == "" && text != "" ||
				!strings.HasPrefix(text, finding) {
				t.Errorf("got the findings %q, %v; want %q", text, err, finding)
			}
		}
		want(0, "")
		for i, wait := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute,
			10 * time.Minute, 10 * time.Minute} {
			p := claim()
			if err := s.postponePreview(ctx, p); err != nil {
				t.Fatal(err)
			}
			stored, err := models.ByIDs(ctx, s.core, auth.Caller{}, models.AllFields[models.Preview](), []int64{p.ID})
			if err != nil {
				t.Fatal(err)
			}
			p = stored[p.ID]
			if got := time.Until(p.BeatAt); got > wait || got < wait-20*time.Second || p.State != models.PreviewWaiting ||
				p.Attempts != 0 {
				t.Errorf("outage %d: the preview is %s after %d attempts and waits %s, want waiting, 0 and %s", i+1, p.State,
					p.Attempts, got, wait)
			}
			want(1, fmt.Sprintf("preview %d: the bucket was unavailable or full (failed attempts: %d)", p.ID, i+1))
		}
		if err := s.finishPreview(ctx, claim(), preview.Result{}); err != nil {
			t.Fatal(err)
		}
		want(0, "")
	})
}
