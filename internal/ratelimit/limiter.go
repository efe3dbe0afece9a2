// Package ratelimit limits how many requests a caller may make within a time window, and how much
// they may cost in total. Windows are fixed, and counts are in the memory of this process: several
// servers count separately, and a restart forgets them.
package ratelimit

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// Window is the time window in which requests are counted.
	Window = 5 * time.Minute

	maxCallers = 100_000
)

// Limiter counts the requests, or their cost, of each caller in fixed windows. Counts are per
// process.
type Limiter struct {
	limit int

	mu      sync.Mutex
	callers map[string]*window
}

type window struct {
	used int
	ends time.Time
}

// New returns a Limiter that allows limit requests, or that much cost, in each Window.
func New(limit int) *Limiter {
	return &Limiter{limit: limit, callers: make(map[string]*window)}
}

// take counts n. If that exceeds the limit, left is negative and nothing is counted.
func (l *Limiter) take(caller string, n int, now time.Time) (left int, ends time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.callers[caller]
	if w == nil || !now.Before(w.ends) {
		if w == nil && len(l.callers) >= maxCallers {
			l.forget(now)
		}
		w = &window{ends: now.Add(Window)}
		l.callers[caller] = w
	}
	left = l.limit - w.used - n
	if left >= 0 {
		w.used += n
	}
	return left, w.ends
}

// Allow counts an action of a caller that is not a request. If it exceeds the limit, ok is
// false and wait is the time until the next window.
func (l *Limiter) Allow(caller string, now time.Time) (wait time.Duration, ok bool) {
	left, ends := l.take(caller, 1, now)
	return whole(ends.Sub(now)), left >= 0
}

// Refund reverses an action that Allow counted.
func (l *Limiter) Refund(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.callers[caller]; w != nil && w.used > 0 {
		w.used--
	}
}

// Forgive resets the count of a caller.
func (l *Limiter) Forgive(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.callers, caller)
}

// forget frees memory: it removes the callers whose window has ended and, until a tenth of the
// callers is removed, those that have used least. So many new callers cannot reset the count of one
// that is near the limit.
func (l *Limiter) forget(now time.Time) {
	maps.DeleteFunc(l.callers, func(_ string, w *window) bool { return !now.Before(w.ends) })
	for most := 1; len(l.callers) > maxCallers*9/10; most *= 2 {
		maps.DeleteFunc(l.callers, func(_ string, w *window) bool { return w.used <= most })
	}
}

// Spend deducts a cost from what the caller has left. If left is negative, nothing is deducted:
// -left is the cost that is lacking and wait the time until the next window.
func (l *Limiter) Spend(caller string, cost int) (left int, wait time.Duration) {
	now := time.Now()
	left, ends := l.take(caller, cost, now)
	return left, whole(ends.Sub(now))
}

// whole rounds a time up to whole seconds for Retry-After.
func whole(wait time.Duration) time.Duration { return wait.Truncate(time.Second) + time.Second }

// Admit counts a request of a caller, and adds the headers of
// draft-ietf-httpapi-ratelimit-headers-10 and their older equivalents to those of its response. If
// the request exceeds the limit, ok is false and wait is the time until the next window.
func (l *Limiter) Admit(h http.Header, caller string) (wait time.Duration, ok bool) {
	if l.limit <= 0 {
		return 0, true
	}
	now := time.Now()
	left, ends := l.take(caller, 1, now)
	h.Set("RateLimit-Policy", fmt.Sprintf(`"default";q=%d;w=%d`, l.limit, int(Window.Seconds())))
	h.Set("RateLimit", fmt.Sprintf(`"default";r=%d;t=%d`, max(left, 0), int(math.Ceil(ends.Sub(now).Seconds()))))
	h.Set("X-RateLimit-Limit", strconv.Itoa(l.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(left, 0)))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(ends.Unix(), 10))
	if left >= 0 {
		return 0, true
	}
	wait = whole(ends.Sub(now))
	h.Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
	return wait, false
}
