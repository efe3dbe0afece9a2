package maintenance

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// TestOneDatabaseCollects checks that a copy of a database does not collect garbage in the bucket
// of the original, which does not notice the copy; that either can take over; and that a bucket
// which no other database uses any more is claimed, and one that was marked by a clock ahead.
func TestOneDatabaseCollects(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx, folder := t.Context(), t.TempDir()
		var err error
		if s.core.Bucket, err = bucket.Open(ctx, "file://"+folder); err != nil {
			t.Fatal(err)
		}
		remembered := func() []byte {
			t.Helper()
			row := models.SecretRow{Name: marksName}
			if err := s.core.DB.Write.NewSelect().Model(&row).WherePK().Scan(ctx); err != nil {
				t.Fatal(err)
			}
			return row.Value
		}
		// become turns the database into one with other remembered marks.
		become := func(marks []byte) {
			t.Helper()
			if _, err := s.core.DB.Write.NewRaw("UPDATE secrets SET value = ? WHERE name = ?", marks, marksName).
				Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		claim := func(idle time.Duration, want bool, wantErr error) {
			t.Helper()
			if got, err := s.ClaimBucket(ctx, idle); got != want || !errors.Is(err, wantErr) {
				t.Errorf("claim the bucket: got %t, %v, want %t, %v", got, err, want, wantErr)
			}
			if err := s.CheckCollector(ctx); !errors.Is(err, wantErr) {
				t.Errorf("check the collector: got %v, want %v", err, wantErr)
			}
		}
		claim(time.Hour, true, nil) // there is no mark
		claim(time.Hour, false, nil)
		duplicate := remembered()
		for range 2 * rememberedMarks {
			claim(0, true, nil)
		}
		original := remembered()
		become(duplicate)
		claim(0, false, ErrOtherCollector)
		become(original)
		claim(0, true, nil)
		original = remembered()

		become(duplicate)
		if err := s.TakeOverBucket(ctx); err != nil {
			t.Fatal(err)
		}
		claim(0, true, nil)
		become(original)
		claim(0, false, ErrOtherCollector)
		mark, at, err := s.core.Bucket.Mark(ctx)
		if err != nil || mark == "" || time.Since(at) > time.Minute {
			t.Fatalf("the mark is %q of %s (%v)", mark, at, err)
		}
		date := func(at time.Time) {
			t.Helper()
			if err := os.Chtimes(filepath.Join(folder, "mark", "collector"), at, at); err != nil {
				t.Fatal(err)
			}
		}
		date(time.Now().Add(-abandonedAfter - time.Minute))
		claim(2*time.Hour, true, nil)
		date(time.Now().AddDate(1, 0, 0)) // the clock was ahead
		claim(2*time.Hour, true, nil)
	})
}
