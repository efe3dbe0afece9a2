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
)

// start acquires in the background, one after the other, and appends each name to the order in
// which slots are granted.
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
		if l.held != 0 || len(l.callers) != 0 || l.Most() != 2 {
			t.Errorf("at the end %d slots are held by %d callers, want none; one caller held %d, want 2", l.held, len(l.callers), l.Most())
		}
	})
}

// A caller with a long queue gets a slot in its turn only.
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

// Callers with short work do not starve a queue.
func TestQueuesMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1, 1)
		var order []string
		start(t, l, &order, "a", "a", "a", "1", "2", "3", "4", "5", "6", "7", "8", "9")
		for i := range 12 {
			l.Release(order[i])
			synctest.Wait()
		}
		if got := strings.Join(order, " "); got != "a 1 2 3 a 4 5 6 a 7 8 9" {
			t.Errorf("granted in the order %s, want a 1 2 3 a 4 5 6 a 7 8 9", got)
		}
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

// Whatever comes in whatever order, no slot is lost and no limit exceeded.
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
	if l.held != 0 || len(l.callers) != 0 || slices.ContainsFunc(l.queued, func(c *caller) bool { return len(c.waiting) > 0 }) {
		t.Errorf("%d slots are held by %d callers at the end", l.held, len(l.callers))
	}
}
