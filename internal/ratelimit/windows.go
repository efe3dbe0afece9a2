package ratelimit

import (
	"maps"
	"sync"
	"time"
)

const (
	// Window is the time window in which requests are counted.
	Window = 5 * time.Minute

	maxCallers = 100_000
)

// windows has the current window of each caller, in the memory of this process.
type windows struct {
	limit int

	mu      sync.Mutex
	callers map[string]*window
}

type window struct {
	used int
	ends time.Time
}

func newWindows(limit int) windows {
	return windows{limit: limit, callers: make(map[string]*window)}
}

// take counts n. If that exceeds the limit, left is negative and nothing is counted. The caller
// holds the mutex.
func (l *windows) take(caller string, n int, now time.Time) (left int, ends time.Time) {
	w := l.of(caller, now)
	left = l.limit - w.used - n
	if left >= 0 {
		w.used += n
	}
	return left, w.ends
}

// of returns the window of a caller, a new one if there is none or it has ended.
func (l *windows) of(caller string, now time.Time) *window {
	w := l.callers[caller]
	if w == nil || !now.Before(w.ends) {
		if w == nil && len(l.callers) >= maxCallers {
			l.forget(now)
		}
		w = &window{ends: now.Add(Window)}
		l.callers[caller] = w
	}
	return w
}

// forget frees memory: it removes the callers whose window has ended and, until a tenth of the
// callers is removed, those that have used least. So many new callers cannot reset the count of one
// that is near the limit.
func (l *windows) forget(now time.Time) {
	maps.DeleteFunc(l.callers, func(_ string, w *window) bool { return !now.Before(w.ends) })
	for most := 1; len(l.callers) > maxCallers*9/10; most *= 2 {
		maps.DeleteFunc(l.callers, func(_ string, w *window) bool { return w.used <= most })
	}
}

// whole rounds a time up to whole seconds for Retry-After.
func whole(wait time.Duration) time.Duration { return wait.Truncate(time.Second) + time.Second }
