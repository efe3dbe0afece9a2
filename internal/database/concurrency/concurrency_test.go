package concurrency

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// start acquires a slot for each name in the background, one after the other, and appends each name
// to order when its slot is granted.
func start(t *testing.T, l *Limiter, order *[]string, names ...string) {
	t.Helper()
	for _, name := range names {
		go func() {
			if err := l.Acquire(t.Context(), name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			*order = append(*order, name) // Release grants one at a time
		}()
		synctest.Wait()
	}
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(4, 2)
		var order []string
		start(t, l, &order, "a", "a", "a", "a", "b", "c", "c")
		if got := strings.Join(order, " "); got != "a a b c" {
			t.Fatalf("under way: %s, want a a b c", got)
		}
		for _, name := range []string{"b", "a", "c", "c", "a", "a", "a"} {
			l.Release(name)
			synctest.Wait()
		}
		if got := strings.Join(order, " "); got != "a a b c c a a" {
			t.Errorf("granted in the order %s, want a a b c c a a", got)
		}
		if l.held != 0 || len(l.callers) != l.idle || l.Most() != 2 {
			t.Errorf("at the end %d slots are held by %d callers, want none; one caller held %d, want 2", l.held,
				len(l.callers)-l.idle, l.Most())
		}
	})
}

// TestTurns checks that a caller with a long queue does not get more slots than others.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1, 1)
		var order []string
		start(t, l, &order, "a", "a", "a", "a", "a", "b", "b", "c")
		for i := range 8 {
			l.Release(order[i])
			synctest.Wait()
		}
		if got := strings.Join(order, " "); got != "a b c a b a a a" {
			t.Errorf("granted in the order %s, want a b c a b a a a", got)
		}
	})
}

// TestLongWork checks that callers with long work get as much time as those with short work, not as
// many slots.
func TestLongWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1, 1)
		turns := make(map[string]int)
		var all sync.WaitGroup
		end := time.Now().Add(time.Minute)
		for name, took := range map[string]time.Duration{"long": time.Second, "short": 50 * time.Millisecond,
			"other": 50 * time.Millisecond} {
			all.Go(func() {
				for time.Now().Before(end) {
					if err := l.Acquire(t.Context(), name); err != nil {
						t.Error(err)
						return
					}
					turns[name]++
					time.Sleep(took)
					l.Release(name)
				}
			})
		}
		all.Wait()
		if turns["long"] > 35 || turns["short"] < 6*turns["long"] || turns["other"] < 6*turns["long"] {
			t.Errorf("turns of a second and of a twentieth: %v", turns)
		}
	})
}

// TestSlotsForShortWork checks that callers with long work leave slots free for short work.
func TestSlotsForShortWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(4, 2)
		var order []string
		start(t, l, &order, "long", "longer")
		time.Sleep(time.Minute)
		start(t, l, &order, "long", "longer", "short")
		if got := strings.Join(order, " "); got != "long longer short" {
			t.Errorf("under way: %s, want two of long work and a short one", got)
		}
		for _, name := range []string{"short", "longer"} {
			if len(order) != 3 {
				t.Errorf("under way: %v, want no long work more", order)
			}
			l.Release(name)
			synctest.Wait()
		}
		if got := strings.Join(order, " "); got != "long longer short longer" && got != "long longer short long" {
			t.Errorf("under way: %s, want one long work more", got)
		}
		for _, name := range []string{"long", order[3]} {
			l.Release(name)
			synctest.Wait()
		}
		l.Release(order[4])
	})
}

// TestCallersAreForgotten checks that the use of idle callers is remembered, but only for a limited
// number of callers.
func TestCallersAreForgotten(t *testing.T) {
	l := New(1, 1)
	for i := range 10 * maxIdle {
		name := fmt.Sprint(i)
		if err := l.Acquire(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		l.Release(name)
	}
	if len(l.callers) > maxIdle || l.idle != len(l.callers) {
		t.Errorf("%d callers are remembered, %d of them without work; want at most %d", len(l.callers), l.idle, maxIdle)
	}
}

// TestLongWorkIsDone checks that long work is not starved when new callers keep arriving.
func TestLongWorkIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1, 1)
		hold := func(name string, took time.Duration) {
			if err := l.Acquire(t.Context(), name); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(took)
			l.Release(name)
		}
		hold("long", 10*time.Second)
		var done atomic.Bool
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() { hold(fmt.Sprint(i), 100*time.Millisecond) })
			time.Sleep(50 * time.Millisecond)
			if i == 0 {
				all.Go(func() { hold("long", time.Second); done.Store(true) })
			}
		}
		if !done.Load() {
			t.Error("the long work was not done while new callers came")
		}
		all.Wait()
	})
}

// TestOneOverdueSlot checks that a caller that got a slot because it had waited too long gets no
// other one until it releases that slot. Otherwise it would not be clear which slot it releases.
func TestOneOverdueSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(4, 2)
		var order []string
		start(t, l, &order, "long")
		time.Sleep(time.Minute)
		l.Release("long")
		start(t, l, &order, "1", "2", "3", "4", "long", "long")
		time.Sleep(maxWait)
		for _, name := range []string{"1", "2", "3", "4"} {
			l.Release(name)
			synctest.Wait()
		}
		if got := strings.Join(order, " "); got != "long 1 2 3 4 long" {
			t.Errorf("granted in the order %s, want long 1 2 3 4 long", got)
		}
		for range 2 {
			l.Release("long")
			synctest.Wait()
		}
		if len(order) != 7 || l.held != 0 {
			t.Errorf("at the end %d slots are held, granted in the order %v", l.held, order)
		}
	})
}

// TestOverdueCallerHoldsNoSlot checks that only a caller that holds no slot gets one because it has
// waited too long. Otherwise it would not be clear which slot it releases.
func TestOverdueCallerHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(3, 2)
		var order []string
		start(t, l, &order, "a", "b", "short")
		time.Sleep(time.Minute)
		start(t, l, &order, "a", "b")
		time.Sleep(maxWait)
		l.Release("short")
		synctest.Wait()
		if got := strings.Join(order, " "); got != "a b short" {
			t.Errorf("under way: %s, want a b short: long work has its slots", got)
		}
		l.Release("a")
		synctest.Wait()
		if len(order) != 4 {
			t.Errorf("under way: %v, want one long work more", order)
		}
		for _, name := range []string{"b", order[3]} {
			l.Release(name)
			synctest.Wait()
		}
		l.Release(order[4])
	})
}

func TestAcquireEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(2, 1)
		var order []string
		start(t, l, &order, "a")
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { failed <- l.Acquire(ctx, "a") }()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
		l.Release("a")
		start(t, l, &order, "a")
		if len(order) != 2 {
			t.Error("a slot was lost")
		}
	})
}

// TestManyCallers checks that no slot is lost and no limit is exceeded with random concurrent
// callers.
func TestManyCallers(t *testing.T) {
	const total, perCaller = 4, 2
	l := New(total, perCaller)
	var all sync.WaitGroup
	var held, most atomic.Int64
	by := make([]atomic.Int64, 5)
	for i := range 400 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if rand.N(4) == 0 {
				go cancel()
			}
			who := i % len(by)
			if l.Acquire(ctx, fmt.Sprint(who)) != nil {
				return
			}
			if n := held.Add(1); n > total {
				t.Errorf("%d slots are held, want at most %d", n, total)
			}
			n := by[who].Add(1)
			most.Store(max(most.Load(), n))
			if n > perCaller {
				t.Errorf("one caller holds %d slots, want at most %d", n, perCaller)
			}
			by[who].Add(-1)
			held.Add(-1)
			l.Release(fmt.Sprint(who))
		})
	}
	all.Wait()
	if l.held != 0 || len(l.callers) != l.idle ||
		slices.ContainsFunc(l.queue, func(c *caller) bool { return len(c.waiting) > 0 }) {
		t.Errorf("%d slots are held by %d callers at the end", l.held, len(l.callers)-l.idle)
	}
}
