package maintenance_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/uploads"
)

// TestCollectContentInRetry checks that content that came into use between a deadlock and the retry
// of the transaction is not reported as removed. SQLite has no deadlocks.
func TestCollectContentInRetry(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		exec := func(query string, args ...any) {
			t.Helper()
			if _, err := s.DB.Write.NewRaw(query, args...).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		f, err := s.Uploads.Upload(ctx, ada, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid a")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Promote(ctx, ada, []models.FinalizeFile{{ID: f.ID}}); err != nil {
			t.Fatal(err)
		}
		object := bucket.Object{Key: bucket.ContentKey(f.SHA256), Size: f.Size}
		wantGone := true
		if s.DB.Engine == database.Postgres {
			// The first transaction fails when it deletes the content. The second one finds a file that
			// refers to it. Sequences count across rollbacks.
			wantGone = false
			exec(`CREATE SEQUENCE transactions;
				CREATE FUNCTION fail_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
					IF currval('transactions') = 1 THEN RAISE deadlock_detected; END IF;
					RETURN OLD;
				END $$;
				CREATE TRIGGER fail_first BEFORE DELETE ON contents FOR EACH ROW EXECUTE FUNCTION fail_first();
				CREATE FUNCTION use_in_second() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
					IF nextval('transactions') = 2 THEN UPDATE files SET state = 'finalized' WHERE sha256 = NEW.sha256; END IF;
					RETURN NEW;
				END $$;
				CREATE TRIGGER use_in_second BEFORE INSERT ON contents FOR EACH ROW EXECUTE FUNCTION use_in_second()`)
		}
		if gone, err := s.Maintenance.CollectContent(ctx, object); gone != wantGone || err != nil {
			t.Errorf("removed: %t, %v, want %t", gone, err, wantGone)
		}
		if s.DB.Engine == database.Postgres {
			exec("DROP TRIGGER use_in_second ON contents")
			exec("DROP TRIGGER fail_first ON contents")
		}
		exec("DELETE FROM files")
		exec("DELETE FROM contents")
		s.Discard(ctx, f.ObjectKey)
	})
}

// TestNewObjectsAreKept checks that objects that no row refers to are removed only if they are
// older than the grace period, because an upload stores its bytes before its row.
func TestNewObjectsAreKept(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, _ auth.Caller) {
		ctx := t.Context()
		u, err := s.Bucket.Put(ctx, strings.NewReader("solid a"), 100)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Bucket.Promote(ctx, u.Key, u.SHA256, u.Size); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			grace time.Duration
			want  int
		}{{time.Hour, 0}, {0, 1}} {
			sweep, err := s.Maintenance.CollectGarbage(ctx, step.grace, false)
			if err != nil || len(sweep.PendingObjects) != step.want || len(sweep.ContentObjects) != step.want {
				t.Errorf("with a grace period of %s: removed %+v (%v), want %d pending object and %d content", step.grace, sweep,
					err, step.want, step.want)
			}
		}
	})
}

// TestCollectingContinues checks that an object that cannot be removed does not keep the objects
// after it, and that the collection fails as long as it is there.
func TestCollectingContinues(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		var sums []string
		for _, text := range []string{"solid a", "solid b", "solid c"} {
			f, err := s.Uploads.Upload(ctx, ada, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader(text)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Promote(ctx, ada, []models.FinalizeFile{{ID: f.ID}}); err != nil {
				t.Fatal(err)
			}
			if err := s.Uploads.DeletePendingUpload(ctx, ada, f.ID); err != nil {
				t.Fatal(err)
			}
			sums = append(sums, f.SHA256)
		}
		exec := func(statement string, args ...any) {
			t.Helper()
			if _, err := s.DB.Write.NewRaw(statement, args...).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		first := slices.Min(sums)
		exec("INSERT INTO contents (sha256, size, created_at) VALUES (?, 7, ?) ON CONFLICT DO NOTHING", first, models.Now())
		exec("CREATE TABLE kept (sha256 text REFERENCES contents (sha256))")
		exec("INSERT INTO kept VALUES (?)", first)
		sweep, err := s.Maintenance.CollectGarbage(ctx, 0, false)
		if err == nil || !strings.Contains(err.Error(), "cannot remove 1 objects, such as "+bucket.ContentKey(first)+": ") {
			t.Errorf("collect garbage: got %v, want an error about %s", err, first)
		}
		if sweep == nil || len(sweep.ContentObjects) != 2 {
			t.Errorf("removed %+v, want the two other contents", sweep)
		}
	})
}
