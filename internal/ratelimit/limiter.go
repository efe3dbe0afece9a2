// Package ratelimit bounds how many requests one caller may make in a span of time, and what these may cost together.
package ratelimit

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// Window is the span in which requests are counted.
	Window = 5 * time.Minute

	maxCallers = 100_000
)

// Limiter counts requests, or what they cost, in fixed windows, a caller at a time, in this process.
type Limiter struct {
	limit int

	mu      sync.Mutex
	callers map[string]*window
}

type window struct {
	used int
	ends time.Time
}

// New makes a limiter of so many requests, or so much cost, in a Window.
func New(limit int) *Limiter {
	return &Limiter{limit: limit, callers: make(map[string]*window)}
}

// take counts n; left is negative, and nothing is counted, where that is too many.
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

// Allow counts something that a caller does outside of Limit, and tells how long he must wait where it is one too many.
func (l *Limiter) Allow(caller string, now time.Time) (wait time.Duration, ok bool) {
	left, ends := l.take(caller, 1, now)
	return whole(ends.Sub(now)), left >= 0
}

// Forgive forgets what a caller did.
func (l *Limiter) Forgive(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.callers, caller)
}

// forget makes room: it drops those whose window is over and, where that is not enough, all.
func (l *Limiter) forget(now time.Time) {
	for caller, w := range l.callers {
		if !now.Before(w.ends) {
			delete(l.callers, caller)
		}
	}
	if len(l.callers) >= maxCallers {
		clear(l.callers)
	}
}

// Spend takes a cost from what a caller has left. A negative left is how much is lacking, and wait how long until there is more.
func (l *Limiter) Spend(caller string, cost int) (left int, wait time.Duration) {
	now := time.Now()
	left, ends := l.take(caller, cost, now)
	return left, whole(ends.Sub(now))
}

// whole is a time to wait in whole seconds, as Retry-After tells it.
func whole(wait time.Duration) time.Duration { return wait.Truncate(time.Second) + time.Second }

// Limit tells each answer where its caller stands, and refuses, through fail and before a body is read, those that have used up their window. It tells so in the
// fields of draft-ietf-httpapi-ratelimit-headers, version 10, and in those that clients knew before.
func (l *Limiter) Limit(next http.Handler, caller func(*http.Request) string, fail func(w http.ResponseWriter, r *http.Request, wait time.Duration)) http.Handler {
	if l.limit <= 0 {
		return next
	}
	policy := fmt.Sprintf(`"default";q=%d;w=%d`, l.limit, int(Window.Seconds()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		left, ends := l.take(caller(r), 1, now)
		h := w.Header()
		h.Set("RateLimit-Policy", policy)
		h.Set("RateLimit", fmt.Sprintf(`"default";r=%d;t=%d`, max(left, 0), int(math.Ceil(ends.Sub(now).Seconds()))))
		h.Set("X-RateLimit-Limit", strconv.Itoa(l.limit))
		h.Set("X-RateLimit-Remaining", strconv.Itoa(max(left, 0)))
		h.Set("X-RateLimit-Reset", strconv.FormatInt(ends.Unix(), 10))
		if left < 0 {
			wait := whole(ends.Sub(now))
			h.Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
			fail(w, r, wait)
			return
		}
		next.ServeHTTP(w, r)
	})
}
