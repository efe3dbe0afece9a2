package coalesce

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestShares checks that calls during an execution share the next one, and never the current one.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[int64]
		var runs atomic.Int64
		fn := func(context.Context) int64 {
			n := runs.Add(1)
			time.Sleep(time.Second)
			return n
		}
		var wg sync.WaitGroup
		got := make([]int64, 10)
		for i := range got {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				got[i], _ = g.Do(t.Context(), "key", fn)
			})
		}
		wg.Go(func() {
			time.Sleep(1500 * time.Millisecond) // during the second execution, so this call takes the third
			if n, err := g.Do(t.Context(), "key", fn); n != 3 || err != nil {
				t.Errorf("the late call got run %d, %v", n, err)
			}
		})
		wg.Go(func() {
			if n, _ := g.Do(t.Context(), "another", func(context.Context) int64 { return 99 }); n != 99 {
				t.Errorf("the call of another key got %d", n)
			}
		})
		wg.Wait()
		for i, n := range got {
			if want := int64(min(i, 1) + 1); n != want {
				t.Errorf("call %d got run %d, want %d", i, n, want)
			}
		}
		synctest.Wait()
		if runs.Load() != 3 || len(g.lanes) != 0 {
			t.Errorf("%d runs, %d keys left", runs.Load(), len(g.lanes))
		}
	})
}

// TestEndsAlone checks that a caller that goes away does not affect the others, and that a panic
// becomes the error of those that wait.
func TestEndsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[int]
		slow := func(ctx context.Context) int { time.Sleep(time.Second); return 1 }
		go g.Do(t.Context(), "key", slow)
		synctest.Wait()
		impatient, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := g.Do(impatient, "key", func(ctx context.Context) int {
				if ctx.Err() != nil {
					t.Error("the shared run is canceled")
				}
				return 2
			}); !errors.Is(err, context.Canceled) {
				t.Errorf("who went away got %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if v, err := g.Do(t.Context(), "key", slow); v != 2 || err != nil {
				t.Errorf("who stayed got %d, %v", v, err)
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()

		go g.Do(t.Context(), "key", slow)
		synctest.Wait()
		for range 3 {
			wg.Go(func() {
				if _, err := g.Do(t.Context(), "key", func(context.Context) int { panic("no") }); err == nil {
					t.Error("a panic was no error")
				}
			})
		}
		wg.Wait()
		v, err := g.Do(t.Context(), "key", slow)
		synctest.Wait()
		if v != 1 || err != nil || len(g.lanes) != 0 {
			t.Errorf("afterwards: %d, %v, %d keys left", v, err, len(g.lanes))
		}
	})
}
