package server

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestReleasesMemory checks that a server returns memory when it becomes idle after work, once, and
// not while it works. The test is not parallel: others would allocate meanwhile.
func TestReleasesMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		released := 0
		go releaseMemory(ctx, func() { released++ })
		for step, work := range []bool{true, true, false, false, false, true, false, false} {
			time.Sleep(idleTime / 2)
			if work {
				runtime.KeepAlive(make([]byte, 2*worthReleasing))
			}
			time.Sleep(idleTime / 2)
			synctest.Wait()
			if want := []int{0, 0, 1, 1, 1, 1, 2, 2}[step]; released != want {
				t.Fatalf("step %d: released %d times, want %d", step, released, want)
			}
		}
	})
}
