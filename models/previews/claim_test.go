package previews

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/modelstest"
)

// TestPreviewTurns checks that one owner cannot occupy all workers of a process that has several.
func TestPreviewTurns(t *testing.T) {
	var turns previewTurns
	full := func(workers int, want ...int64) {
		t.Helper()
		got := turns.full(workers)
		slices.Sort(got)
		if want = append([]int64{-1}, want...); !slices.Equal(got, want) {
			t.Errorf("%d workers: full are %v, want %v", workers, got, want)
		}
	}
	full(2)
	turns.begin(7)
	full(1, 7)
	full(2, 7)
	full(3)
	turns.begin(7)
	turns.begin(8)
	full(3, 7)
	full(2, 7, 8)
	turns.end(7)
	turns.end(7)
	full(2, 8)
	turns.end(8)
	full(2)
}

// TestHonestFilesPassBombs checks that one owner with forty files that take as long as possible
// does not delay other owners: their files, uploaded later, get previews while the first of the
// forty is still being processed.
func TestHonestFilesPassBombs(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		s.core.Options.PreviewWorkers = 2
		ctx := t.Context()
		exec := func(query string, args ...any) {
			t.Helper()
			if _, err := s.core.DB.Write.NewRaw(query, args...).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		upload := func(id, owner int64) {
			sum := fmt.Sprintf("%064x", id)
			exec("INSERT INTO contents (sha256, size, created_at) VALUES (?, 1, ?)", sum, models.Now())
			exec("INSERT INTO previews (id, sha256, subject, version, state, owner_id, beat_at) VALUES (?, ?, 'stl', 1, 'waiting', ?, ?)", id, sum, owner, models.Now())
		}
		claim := func() (id int64, end func(tookMS int)) {
			t.Helper()
			p, free, err := s.claimPreview(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if p == nil {
				return 0, nil
			}
			return p.ID, func(tookMS int) {
				exec("UPDATE previews SET state = 'failed', error = 'too complex', took_ms = ? WHERE id = ?", tookMS, p.ID)
				free()
			}
		}
		for id := range int64(40) {
			upload(1+id, ada.UserID)
		}
		bomb, endBomb := claim()
		if other, _ := claim(); bomb != 1 || other != 0 {
			t.Fatalf("the workers make previews %d and %d, want 1 and none", bomb, other)
		}
		for i := range int64(10) {
			user := modelstest.NewUser(t, s.core, fmt.Sprint("honest-", i))
			upload(101+i, user.UserID)
		}
		for i := range int64(10) {
			id, end := claim()
			if id != 101+i {
				t.Fatalf("next is preview %d, want %d", id, 101+i)
			}
			end(1_000)
		}
		if id, _ := claim(); id != 0 {
			t.Errorf("next is preview %d, want none while one of its owner is being made", id)
		}
		endBomb(120_000)
		if id, end := claim(); id != 2 {
			t.Errorf("next is preview %d, want 2", id)
		} else {
			end(120_000)
		}
		exec("DELETE FROM previews")
		exec("DELETE FROM contents")
	})
}

// TestRescheduledPreview schedules a preview again while it is being made, as a newer version of
// the server does. The result of the first attempt must not be taken for that of the second one,
// which has the same number.
func TestRescheduledPreview(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		s.core.Options.PreviewWorkers = 4 // so that one owner may have two
		modelstest.Published(t, s.core, ada)
		claim := func() *models.Preview {
			t.Helper()
			p, end, err := s.claimPreview(ctx)
			if err != nil || p == nil {
				t.Fatal(p, err)
			}
			t.Cleanup(end)
			return p
		}
		older := claim()
		if _, err := s.core.DB.Write.NewRaw("UPDATE previews SET version = ? WHERE id = ?", preview.Version-1, older.ID).
			Exec(ctx); err != nil {
			t.Fatal(err)
		}
		if n, err := s.SchedulePreviews(ctx, AgainNone); n != 1 || err != nil {
			t.Fatalf("%d previews scheduled again, %v", n, err)
		}
		newer := claim()
		if older.ID != newer.ID || older.Attempts != newer.Attempts {
			t.Fatalf("attempts %d of %d and %d of %d", older.Attempts, older.ID, newer.Attempts, newer.ID)
		}
		if err := s.failPreview(ctx, older, preview.Crashed, "A failure of the older version."); err != nil {
			t.Fatal(err)
		}
		if err := s.finishPreview(ctx, older, preview.Result{Width: 1}); err != nil {
			t.Fatal(err)
		}
		if err := s.finishPreview(ctx, newer, preview.Result{Width: 2}); err != nil {
			t.Fatal(err)
		}
		found, err := models.ByIDs(ctx, s.core, auth.Caller{}, models.AllFields[models.Preview](), []int64{newer.ID})
		if p := found[newer.ID]; err != nil || p.State != models.PreviewDone || p.Version != preview.Version || p.Width != 2 {
			t.Errorf("%v: %+v", err, p)
		}
	})
}

// TestNewerPreviews checks that a node of an older version neither generates previews of a newer
// version of the pipeline nor lowers their version.
func TestNewerPreviews(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		s.core.Options.PreviewWorkers = 1
		_, file := modelstest.PublishedFile(t, s.core, ada)
		set := func(state models.PreviewState) {
			t.Helper()
			if _, err := s.core.DB.Write.NewRaw("UPDATE previews SET version = ?, state = ?", preview.Version+1, state).
				Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		claimed := func() bool {
			t.Helper()
			p, end, err := s.claimPreview(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if p != nil {
				end()
			}
			return p != nil
		}
		set(models.PreviewWaiting)
		if claimed() {
			t.Error("a waiting preview of a newer version was claimed")
		}
		set(models.PreviewDone)
		only := func() *models.Preview {
			t.Helper()
			f, err := s.core.File(ctx, ada, models.AllFileFields, file.ID)
			if err != nil {
				t.Fatal(err)
			}
			found, err := models.ByIDs(ctx, s.core, auth.Caller{}, models.AllFields[models.Preview](), []int64{f.PreviewID})
			if err != nil {
				t.Fatal(err)
			}
			return found[f.PreviewID]
		}
		if err := s.RegeneratePreview(ctx, file.ID, only().Tag()); !errors.Is(err, ErrGenerating) {
			t.Error(err)
		}
		if p := only(); p.State != models.PreviewWaiting || p.Version != preview.Version+1 || claimed() {
			t.Errorf("a preview with a missing part is %s in version %d, want waiting in %d, for a newer node", p.State,
				p.Version, preview.Version+1)
		}
	})
}

// TestPreviewAfterClockWasAhead checks that a preview does not wait for a time that was set while
// the clock was ahead, whether it waits or its worker is dead.
func TestPreviewAfterClockWasAhead(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		modelstest.Published(t, s.core, ada)
		for _, state := range []models.PreviewState{models.PreviewWaiting, models.PreviewRunning} {
			if _, err := s.core.DB.Write.NewUpdate().Model((*models.Preview)(nil)).Set("state = ?, beat_at = ?", state,
				models.Now().AddDate(1, 0, 0)).Where("true").Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
			p, end, err := s.claimPreview(t.Context())
			if p == nil || err != nil {
				t.Fatalf("a preview that is %s: got %v, %v; want it", state, p, err)
			}
			end()
		}
	})
}
