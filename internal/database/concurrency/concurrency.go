// Package concurrency limits how much work each caller may run concurrently, and shares the slots
// fairly among callers when all slots are taken.
//
// A slot stands for a scarce resource, such as a database connection. Package database uses a
// [Limiter] for the statements and the transactions of a caller. Limits count the work of this
// process only.
package concurrency

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

const (
	// halfLife is the half-life of the recorded use of a caller: the time after which past use counts
	// half.
	halfLife = 5 * time.Second
	// useTolerance is the difference in use up to which two callers are treated as equal.
	useTolerance = 20 * time.Millisecond
	// maxWait is how long a caller without a slot can be passed over by callers with less use. After
	// that it gets a slot. This prevents starvation of long work when new callers keep arriving; it
	// takes at most a quarter of the time of one slot.
	maxWait = 2 * time.Second
	// longUseThreshold is the recent use from which a caller gets a slot only while the total number
	// of held slots is below the limit of one caller. The other slots stay free for short work,
	// because long work that holds a slot cannot be interrupted.
	longUseThreshold = 300 * time.Millisecond
	// maxIdle is the number of callers without work that are remembered. Beyond it, those with the
	// least recent use are removed.
	maxIdle = 1024
)

// Limiter limits how much work runs concurrently, in total and for each caller. Work beyond the
// limits waits. A free slot goes to the caller that has held slots for the shortest time recently,
// so neither a long queue nor long work of one caller delays the others.
type Limiter struct {
	total, perCaller int

	mu      sync.Mutex
	held    int
	most    int // the largest number of slots that one caller has held
	callers map[string]*caller
	idle    int       // number of callers without work
	queue   []*caller // callers with waiting work, in the order in which they were enqueued

	// overdue is the caller that got a slot because it had waited for maxWait. It held no slot before,
	// and gets no other one, so its next release ends the use of that slot.
	overdue      *caller
	overdueSince time.Time
	nextOverdue  time.Time // when the next caller may get a slot for that reason
}

// caller is a caller that has running or waiting work, or had some recently.
type caller struct {
	held     int
	waiting  []*waiter
	enqueued bool      // is in queue
	since    time.Time // when it was enqueued
	awake    bool      // has running or waiting work

	used time.Duration // decayed time for which it held slots, as of asOf
	asOf time.Time
}

type waiter struct{ granted chan struct{} }

// New returns a Limiter with total slots, of which one caller may hold perCaller.
func New(total, perCaller int) *Limiter {
	return &Limiter{total: total, perCaller: perCaller, callers: make(map[string]*caller)}
}

// use returns for how long the caller has held slots recently. Earlier use decays exponentially.
func (c *caller) use(now time.Time) time.Duration {
	if passed := now.Sub(c.asOf); passed > 0 {
		c.used = time.Duration(float64(c.used)*math.Exp2(-float64(passed)/float64(halfLife))) + time.Duration(c.held)*passed
		c.asOf = now
	}
	return c.used
}

// Acquire waits for a slot for the caller. It returns an error only if ctx is done first. Otherwise
// the caller must call Release.
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
		l.release(c) // the slot was granted at the same time
	}
	return ctx.Err()
}

// Release frees a slot of the caller that Acquire granted.
func (l *Limiter) Release(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(l.callers[name])
}

// Most returns the largest number of slots that one caller has held at the same time.
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
			continue // it gave up, or took a free slot, since it was enqueued
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

// has reports whether a slot is available to a caller.
func (l *Limiter) has(c *caller, now time.Time) bool {
	if c == l.overdue {
		return false
	}
	return l.held < l.perCaller || l.held < l.total && c.use(now) < longUseThreshold
}

// next removes the caller whose turn it is from the queue and returns it, or nil if there is none.
func (l *Limiter) next() *caller {
	if len(l.queue) == 0 {
		return nil
	}
	now := time.Now()
	best := -1
	if l.overdue == nil && !now.Before(l.nextOverdue) {
		best = slices.IndexFunc(l.queue, func(c *caller) bool { return c.held == 0 && now.Sub(c.since) >= maxWait })
	}
	if best >= 0 {
		l.overdue, l.overdueSince = l.queue[best], now
	} else {
		for i, c := range l.queue {
			if l.has(c, now) && (best < 0 || l.queue[best].use(now)-c.use(now) > useTolerance) {
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

// rest marks a caller as idle if it has neither running nor waiting work.
func (l *Limiter) rest(c *caller) {
	if c.awake && c.held == 0 && len(c.waiting) == 0 {
		c.awake = false
		l.idle++
	}
}

// sweep removes idle callers once there are maxIdle of them, those with the least recent use first.
func (l *Limiter) sweep() {
	if l.idle < maxIdle {
		return
	}
	now := time.Now()
	for bound := useTolerance; l.idle >= maxIdle/2; bound *= 4 {
		for name, c := range l.callers {
			if !c.awake && c.use(now) <= bound {
				delete(l.callers, name)
				l.idle--
			}
		}
	}
}
