// Package concurrency bounds how much work each caller has under way at once, and serves callers in
// turn when all slots are taken.
package concurrency

import (
	"context"
	"slices"
	"sync"
)

// maxFresh is how many callers that had nothing under way are served in a row before one that has a
// queue. It keeps short work fast beside long queues, and queues moving beside much short work.
const maxFresh = 3

// Limiter bounds how much work is under way at once, in all and by each caller. Work beyond that
// waits. A free slot goes to the next caller, not to the next piece of work: a caller with a long
// queue does not delay others.
type Limiter struct {
	total, perCaller int

	mu      sync.Mutex
	held    int
	most    int // the most that one caller has held
	callers map[string]*caller
	fresh   []*caller // have something to run and had nothing under way before
	queued  []*caller // have something to run, in the order of their turns
	streak  int       // how many of fresh were served since one of queued
}

// caller is a caller with work under way or waiting. It is in fresh or queued if enqueued is set.
type caller struct {
	held     int
	waiting  []*waiter
	enqueued bool
}

type waiter struct{ granted chan struct{} }

// New returns a Limiter with total slots, of which one caller may hold perCaller.
func New(total, perCaller int) *Limiter {
	return &Limiter{total: total, perCaller: perCaller, callers: make(map[string]*caller)}
}

// Acquire waits for a slot for the caller. It returns an error only if ctx ends first; otherwise
// Release must follow.
func (l *Limiter) Acquire(ctx context.Context, name string) error {
	l.mu.Lock()
	c := l.callers[name]
	idle := c == nil
	if idle {
		c = new(caller)
		l.callers[name] = c
	}
	if l.held < l.total && c.held < l.perCaller && len(c.waiting) == 0 {
		l.take(c)
		l.mu.Unlock()
		return nil
	}
	w := &waiter{granted: make(chan struct{})}
	c.waiting = append(c.waiting, w)
	l.enqueue(c, idle)
	l.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(c.waiting, w); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
		l.forget(name, c)
	} else {
		l.release(name, c) // granted at the same time
	}
	return ctx.Err()
}

// Release frees a slot that Acquire took for the caller.
func (l *Limiter) Release(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(name, l.callers[name])
}

// Most returns the most slots that one caller has held at once.
func (l *Limiter) Most() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.most
}

// Held returns how many slots are held.
func (l *Limiter) Held() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

func (l *Limiter) take(c *caller) {
	c.held++
	l.held++
	l.most = max(l.most, c.held)
}

func (l *Limiter) release(name string, c *caller) {
	c.held--
	l.held--
	l.enqueue(c, false)
	for l.held < l.total {
		next := l.next()
		if next == nil {
			break
		}
		next.enqueued = false
		if len(next.waiting) == 0 || next.held >= l.perCaller {
			continue // gave up, or took a free slot since it was enqueued
		}
		close(next.waiting[0].granted)
		next.waiting = slices.Delete(next.waiting, 0, 1)
		l.take(next)
		l.enqueue(next, false)
	}
	l.forget(name, c)
}

// enqueue adds a caller with waiting work to fresh or queued, unless it is already there or is at
// its limit.
func (l *Limiter) enqueue(c *caller, fresh bool) {
	if c.enqueued || len(c.waiting) == 0 || c.held >= l.perCaller {
		return
	}
	c.enqueued = true
	if fresh {
		l.fresh = append(l.fresh, c)
	} else {
		l.queued = append(l.queued, c)
	}
}

// next returns the caller whose turn it is, or nil if none waits.
func (l *Limiter) next() *caller {
	from := &l.queued
	if len(l.fresh) > 0 && (len(l.queued) == 0 || l.streak < maxFresh) {
		from = &l.fresh
		l.streak++
	} else {
		l.streak = 0
	}
	if len(*from) == 0 {
		return nil
	}
	c := (*from)[0]
	*from = slices.Delete(*from, 0, 1)
	return c
}

// forget frees the memory of a caller with nothing under way and nothing waiting.
func (l *Limiter) forget(name string, c *caller) {
	if c.held == 0 && len(c.waiting) == 0 && l.callers[name] == c {
		delete(l.callers, name)
	}
}
