// Package concurrency bounds how much work each caller has under way at once, and shares slots
// fairly among callers when all are taken.
package concurrency

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

const (
	// halfLife is the time after which what a caller used counts half.
	halfLife = 5 * time.Second
	// sameUse is the difference up to which callers have used the same.
	sameUse = 20 * time.Millisecond
	// maxWait is how long a caller waits while others who used less are preferred. It keeps long
	// work moving beside work of ever new callers, with a quarter of the time of one slot.
	maxWait = 2 * time.Second
	// longUse is the use from which a caller gets a slot only while fewer slots are held, by all
	// callers, than one caller may hold. The others stay free for short work: work that holds a slot
	// for long cannot be interrupted.
	longUse = 300 * time.Millisecond
	// maxIdle is how many callers without work are remembered before those that used little are
	// forgotten.
	maxIdle = 1024
)

// Limiter bounds how much work is under way at once, in all and by each caller. Work beyond that
// waits. A free slot goes to the caller who held slots for the shortest time of late: neither a
// long queue nor long work delays others.
type Limiter struct {
	total, perCaller int

	mu      sync.Mutex
	held    int
	most    int // the most that one caller has held
	callers map[string]*caller
	idle    int       // how many of callers have no work
	queue   []*caller // have something to run, the longest waiting first

	overdue      *caller // waited for maxWait and has a slot now
	overdueSince time.Time
	nextOverdue  time.Time // when another caller may have a slot for that reason
}

// caller is a caller with work under way or waiting, or one that had some of late.
type caller struct {
	held     int
	waiting  []*waiter
	enqueued bool      // is in queue
	since    time.Time // when it was enqueued
	awake    bool      // has work under way or waiting

	used time.Duration // for which it held slots of late, at asOf
	asOf time.Time
}

type waiter struct{ granted chan struct{} }

// New returns a Limiter with total slots, of which one caller may hold perCaller.
func New(total, perCaller int) *Limiter {
	return &Limiter{total: total, perCaller: perCaller, callers: make(map[string]*caller)}
}

// use returns for how long the caller held slots of late.
func (c *caller) use(now time.Time) time.Duration {
	if passed := now.Sub(c.asOf); passed > 0 {
		c.used = time.Duration(float64(c.used)*math.Exp2(-float64(passed)/float64(halfLife))) + time.Duration(c.held)*passed
		c.asOf = now
	}
	return c.used
}

// Acquire waits for a slot for the caller. It returns an error only if ctx ends first; otherwise
// Release must follow.
func (l *Limiter) Acquire(ctx context.Context, name string) error {
	l.mu.Lock()
	c := l.callers[name]
	if c == nil {
		l.sweep()
		c = &caller{asOf: time.Now()}
		l.callers[name] = c
		l.idle++
	}
	if !c.awake {
		c.awake = true
		l.idle--
	}
	if c.held < l.perCaller && len(c.waiting) == 0 && l.has(c, time.Now()) {
		l.take(c)
		l.mu.Unlock()
		return nil
	}
	w := &waiter{granted: make(chan struct{})}
	c.waiting = append(c.waiting, w)
	l.enqueue(c)
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
		l.rest(c)
	} else {
		l.release(c) // granted at the same time
	}
	return ctx.Err()
}

// Release frees a slot that Acquire took for the caller.
func (l *Limiter) Release(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(l.callers[name])
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
	c.use(time.Now())
	c.held++
	l.held++
	l.most = max(l.most, c.held)
}

func (l *Limiter) release(c *caller) {
	now := time.Now()
	c.use(now)
	if l.overdue == c {
		l.overdue, l.nextOverdue = nil, now.Add(3*now.Sub(l.overdueSince))
	}
	c.held--
	l.held--
	l.enqueue(c)
	for l.held < l.total {
		next := l.next()
		if next == nil {
			break
		}
		next.enqueued = false
		if len(next.waiting) == 0 || next.held >= l.perCaller {
			if l.overdue == next {
				l.overdue = nil
			}
			continue // gave up, or took a free slot since it was enqueued
		}
		close(next.waiting[0].granted)
		next.waiting = slices.Delete(next.waiting, 0, 1)
		l.take(next)
		l.enqueue(next)
	}
	l.rest(c)
}

// enqueue adds a caller with waiting work to the queue, unless it is already there or is at its
// limit.
func (l *Limiter) enqueue(c *caller) {
	if c.enqueued || len(c.waiting) == 0 || c.held >= l.perCaller {
		return
	}
	c.enqueued, c.since = true, time.Now()
	l.queue = append(l.queue, c)
}

// has reports whether there is a slot for a caller.
func (l *Limiter) has(c *caller, now time.Time) bool {
	return l.held < l.perCaller || l.held < l.total && c.use(now) < longUse
}

// next removes the caller whose turn it is from the queue and returns it, or nil if there is none.
func (l *Limiter) next() *caller {
	if len(l.queue) == 0 {
		return nil
	}
	now := time.Now()
	best := -1
	if now.Sub(l.queue[0].since) >= maxWait && l.overdue == nil && !now.Before(l.nextOverdue) {
		best, l.overdue, l.overdueSince = 0, l.queue[0], now
	} else {
		for i, c := range l.queue {
			if l.has(c, now) && (best < 0 || l.queue[best].use(now)-c.use(now) > sameUse) {
				best = i
			}
		}
	}
	if best < 0 {
		return nil
	}
	c := l.queue[best]
	l.queue = slices.Delete(l.queue, best, best+1)
	return c
}

// rest notes that a caller has nothing under way and nothing waiting.
func (l *Limiter) rest(c *caller) {
	if c.awake && c.held == 0 && len(c.waiting) == 0 {
		c.awake = false
		l.idle++
	}
}

// sweep forgets callers without work once there are many: those who used least of late.
func (l *Limiter) sweep() {
	if l.idle < maxIdle {
		return
	}
	now := time.Now()
	for bound := sameUse; l.idle >= maxIdle/2; bound *= 4 {
		for name, c := range l.callers {
			if !c.awake && c.use(now) <= bound {
				delete(l.callers, name)
				l.idle--
			}
		}
	}
}
