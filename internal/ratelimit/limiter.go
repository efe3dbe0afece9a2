// Package ratelimit limits how many requests a caller may make within a time window, and how much
// they may cost in total. Windows are fixed.
//
// The limiters of a [Group] count together with the other servers of the same database: a [Strict]
// one exactly, with a statement for each action, and a [Limiter] with a statement a second for all
// callers. Without a database that several servers share, counts are in the memory of this process,
// and a restart forgets them.
package ratelimit

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Limiter counts the requests, or their cost, of each caller.
type Limiter struct {
	windows
	name  string // of the limiter in the counts of all servers
	group *Group
	own   map[string]int // what was counted since the last exchange with other servers, by caller
}

// take counts n. If that exceeds the limit, left is negative and nothing is counted.
func (l *Limiter) take(caller string, n int, now time.Time) (left int, ends time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	left, ends = l.windows.take(caller, n, now)
	if left >= 0 && l.group.shared != nil {
		l.own[caller] += n
		if l.own[caller] >= l.limit/hurry {
			l.group.hurry()
		}
	}
	return left, ends
}

// Spend deducts a cost from what the caller has left. If left is negative, nothing is deducted:
// -left is the cost that is lacking and wait the time until the next window.
func (l *Limiter) Spend(caller string, cost int) (left int, wait time.Duration) {
	now := time.Now()
	left, ends := l.take(caller, cost, now)
	return left, whole(ends.Sub(now))
}

// header is an http.Header. Package models, which must not import net/http, imports this package.
type header interface{ Set(key, value string) }

// Admit counts a request of a caller, and adds the headers of
// draft-ietf-httpapi-ratelimit-headers-10 and their older equivalents to those of its response. If
// the request exceeds the limit, ok is false and wait is the time until the next window.
func (l *Limiter) Admit(h header, caller string) (wait time.Duration, ok bool) {
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
