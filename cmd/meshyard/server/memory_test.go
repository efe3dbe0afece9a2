package server

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestReleasesMemory checks that a server releases memory once when it becomes idle after work, and
// not while it works. It is not parallel, because other tests would allocate memory meanwhile.
func TestReleasesMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var released atomic.Int64
		go releaseMemory(ctx, func() { released.Add(1) })
		for step, work := range []bool{true, true, false, false, false, true, false, false} {
			time.Sleep(idleTime / 2)
			if work {
				runtime.KeepAlive(make([]byte, 2*worthReleasing))
			}
			time.Sleep(idleTime / 2)
			synctest.Wait()
			if want := []int64{0, 0, 1, 1, 1, 1, 2, 2}[step]; released.Load() != want {
				t.Fatalf("step %d: released %d times, want %d", step, released.Load(), want)
			}
		}
	})
}
