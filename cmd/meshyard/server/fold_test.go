package server

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPause checks that the pause after work is nine times as long as the work, and at most
// maxPause.
func TestPause(t *testing.T) {
	for took, paused := range map[time.Duration]time.Duration{
		0: 0, time.Millisecond: 9 * time.Millisecond, time.Second: 9 * time.Second, time.Minute: maxPause,
	} {
		synctest.Test(t, func(t *testing.T) {
			var p pause
			work := func() (done bool) {
				_ = p.unlessPaused(func() error { time.Sleep(took); done = true; return nil })
				return done
			}
			if !work() {
				t.Fatal("the first work is not done")
			}
			if paused > 0 {
				time.Sleep(paused - time.Nanosecond)
				if work() {
					t.Errorf("after %v, no pause of %v", took, paused)
				}
				time.Sleep(time.Nanosecond)
			}
			if !work() {
				t.Errorf("after %v, a pause of more than %v", took, paused)
			}
		})
	}
}
