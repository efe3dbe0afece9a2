package fsck_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket/buckettest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/models/modelstest"
)

// TestLargeBucket checks that a run over many objects that is interrupted goes on near the place
// where it stopped, and needs constant memory. MESHYARD_TEST_OBJECTS is the number of objects.
func TestLargeBucket(t *testing.T) {
	objects := 102_400
	if n, err := strconv.Atoi(os.Getenv("MESHYARD_TEST_OBJECTS")); err == nil {
		objects = n / 256 * 256
	}
	l := &buckettest.Listing{Objects: objects, ModTime: time.Now()} // younger than the grace period
	b := l.Open(t)
	modelstest.Each(t, func() {}, func(t *testing.T, core *models.Store, _ auth.Caller) {
		l.Listed.Store(0)
		folder := core.Bucket
		core.Bucket = b
		defer func() { core.Bucket = folder }()
		var most atomic.Uint64
		l.OnPage = func() {
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapAlloc > most.Load() {
				most.Store(m.HeapAlloc)
			}
		}
		check := func(ctx context.Context) error {
			_, err := newFsck(core).Check(ctx, fsck.Options{Grace: time.Hour, Workers: 8, Resume: true},
				func(p fsck.Problem) { t.Error(p) })
			return err
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for l.Listed.Load() < int64(objects)*3/5 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		if err := check(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want that the run is interrupted", err)
		}
		first := l.Listed.Load()
		if err := check(t.Context()); err != nil {
			t.Fatal(err)
		}
		// What the workers had in progress, and what was done after the last checkpoint, is done again.
		all := l.Listed.Load()
		if all > int64(objects)*8/5 {
			t.Errorf("%d of %d objects were listed, and %d together with the run that went on: it started again", first,
				objects, all)
		}
		t.Logf("%d objects, %d before the interruption, %d together, at most %d MiB", objects, first, all, most.Load()>>20)
		if most.Load() > 200<<20 {
			t.Errorf("the heap has grown to %d MiB, want at most 200", most.Load()>>20)
		}
		if err := check(t.Context()); err != nil || l.Listed.Load()-all != int64(objects) {
			t.Errorf("a run after a complete one has listed %d of %d objects, %v", l.Listed.Load()-all, objects, err)
		}
	})
}
