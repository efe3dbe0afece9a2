package maintenance_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/bucket/buckettest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/files"
	"github.com/meshyard/meshyard/models/uploads"
)

// TestDeletedContentIsKept checks that the content of a deleted file stays for KeepDeleted, that it
// is then removed without a listing, and that a content which a file has is never removed.
func TestDeletedContentIsKept(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		s.Options.KeepDeleted = 30 * 24 * time.Hour
		thing, err := s.CreateThing(ctx, ada, models.NewThing{Name: "a", License: models.CC, Category: "Art"})
		if err != nil {
			t.Fatal(err)
		}
		file := func(text string) *models.File {
			t.Helper()
			f, err := s.Uploads.Upload(ctx, ada, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader(text)})
			if err != nil {
				t.Fatal(err)
			}
			done, err := s.Finalize(ctx, ada, []models.FinalizeFile{{ID: f.ID}}, models.Target{Type: models.OnThing,
				ID: thing.ID})
			if err != nil {
				t.Fatal(err)
			}
			return done[0]
		}
		remove := func(f *models.File) {
			t.Helper()
			if _, err := s.Files.DeleteFile(ctx, ada, files.FileDeletion{ID: f.ID}); err != nil {
				t.Fatal(err)
			}
		}
		age := func(by time.Duration) {
			t.Helper()
			if _, err := s.DB.Write.NewRaw("UPDATE deleted_contents SET deleted_at = ?", models.Now().Add(-by)).
				Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		collect := func(want int, has ...*models.File) {
			t.Helper()
			sweep, err := s.Maintenance.CollectDue(ctx, 0)
			if err != nil || sweep.Removed != want {
				t.Errorf("removed %+v, %v, want %d objects", sweep, err, want)
			}
			for _, f := range has {
				if ok, err := s.Bucket.Has(ctx, bucket.ContentKey(f.SHA256)); !ok || err != nil {
					t.Errorf("the content of file %d was removed", f.ID)
				}
			}
		}
		gone, shared, again := file("solid gone"), file("solid shared"), file("solid again")
		file("solid shared")
		collect(0, gone, shared, again) // with a listing; the next ones are not due
		for _, f := range []*models.File{gone, shared, again} {
			remove(f)
		}
		collect(0, gone, shared, again)
		age(29 * 24 * time.Hour)
		collect(0, gone, shared, again)
		remove(file("solid again")) // kept from now on
		if _, err := s.DB.Write.NewRaw("UPDATE deleted_contents SET deleted_at = ? WHERE id <= 3", models.Now().
			Add(-31*24*time.Hour)).Exec(ctx); err != nil {
			t.Fatal(err)
		}
		collect(1, shared, again)
		if ok, err := s.Bucket.Has(ctx, bucket.ContentKey(gone.SHA256)); ok || err != nil {
			t.Errorf("the content of a file that was deleted 31 days ago exists: %t, %v", ok, err)
		}
		// A listing keeps it, too, and finds what is in no queue.
		if sweep, err := s.Maintenance.CollectGarbage(ctx, 0, false); err != nil || len(sweep.ContentObjects) != 0 {
			t.Errorf("a listing has removed %+v, %v, want nothing", sweep, err)
		}
		age(31 * 24 * time.Hour)
		collect(1, shared)
		if n, err := s.DB.Write.NewSelect().Table("deleted_contents").Count(ctx); n != 0 || err != nil {
			t.Errorf("%d rows are left in the queue, %v", n, err)
		}
	})
}

// TestLargeSweep checks that a listing that is interrupted goes on where it stopped, and needs
// constant memory. MESHYARD_TEST_OBJECTS is the number of objects.
func TestLargeSweep(t *testing.T) {
	objects := 51_200
	if n, err := strconv.Atoi(os.Getenv("MESHYARD_TEST_OBJECTS")); err == nil {
		objects = n / 256 * 256
	}
	l := &buckettest.Listing{Objects: objects, ModTime: time.Now()} // younger than the grace period
	b := l.Open(t)
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, _ auth.Caller) {
		l.Listed.Store(0)
		folder := s.Bucket
		s.Bucket = b
		defer func() { s.Bucket = folder }()
		var most atomic.Uint64
		l.OnPage = func() {
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapAlloc > most.Load() {
				most.Store(m.HeapAlloc)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for l.Listed.Load() < int64(objects)/2 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		if _, err := s.Maintenance.CollectDue(ctx, time.Hour); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want that the listing is interrupted", err)
		}
		if _, err := s.Maintenance.CollectDue(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		// One range is listed again.
		all := l.Listed.Load()
		if all < int64(objects) || all > int64(objects+objects/100) {
			t.Errorf("%d objects were listed, want about %d", all, objects)
		}
		t.Logf("%d objects, %d listed, at most %d MiB", objects, all, most.Load()>>20)
		if most.Load() > 200<<20 {
			t.Errorf("the heap has grown to %d MiB, want at most 200", most.Load()>>20)
		}
		if _, err := s.Maintenance.CollectDue(t.Context(), time.Hour); err != nil || l.Listed.Load() != all {
			t.Errorf("the next run has listed %d objects, %v, want none", l.Listed.Load()-all, err)
		}
	})
}
