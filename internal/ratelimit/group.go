package ratelimit

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	// exchangeEvery is the time between two exchanges of the counts of a Group with other servers.
	exchangeEvery = time.Second
	// exchangeGap is the time between two exchanges if a caller uses much of a limit at once.
	exchangeGap = 20 * time.Millisecond
	// hurry is the part of a limit after which the next exchange does not wait: one 32nd.
	hurry = 32

	exchangeTimeout = 5 * time.Second
)

// Total is what all servers have counted for a key in its current window.
type Total struct {
	Used int
	Left time.Duration // until the window ends
}

// Shared has the counts of all servers of a database.
type Shared interface {
	// Take counts n for a key. If that exceeds limit, it counts nothing, and ok is false.
	Take(ctx context.Context, key string, n, limit int) (total Total, ok bool, err error)
	// Add counts what a server has admitted, by key.
	Add(ctx context.Context, used map[string]int) (map[string]Total, error)
	// Refund reverses n of what was counted for a key, and at most all.
	Refund(ctx context.Context, key string, n int) error
}

// Group creates the limiters of a server.
type Group struct {
	shared Shared
	due    chan struct{}

	mu       sync.Mutex
	limiters []*Limiter
}

// NewGroup returns a Group that counts in shared, or in the memory of this process if it is nil.
func NewGroup(shared Shared) *Group { return &Group{shared: shared, due: make(chan struct{}, 1)} }

// New returns a Limiter that allows limit requests, or that much cost, in each Window. Its name is
// that of the limiter on all servers.
func (g *Group) New(name string, limit int) *Limiter {
	l := &Limiter{windows: newWindows(limit), name: name, group: g, own: make(map[string]int)}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limiters = append(g.limiters, l)
	return l
}

// Strict returns a Strict that allows limit actions in each Window.
func (g *Group) Strict(name string, limit int) *Strict {
	s := NewStrict(limit)
	s.name, s.shared = name, g.shared
	return s
}

func (g *Group) hurry() {
	select {
	case g.due <- struct{}{}:
	default:
	}
}

// Run exchanges counts with other servers until ctx ends. During an outage of the database, each
// server counts alone.
func (g *Group) Run(ctx context.Context) {
	if g.shared == nil {
		return
	}
	due := g.due
	for {
		select {
		case <-ctx.Done():
			return
		case <-due:
		case <-time.After(exchangeEvery):
		}
		if due = g.due; g.Exchange(ctx) != nil {
			due = nil // wait for the next second
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(exchangeGap):
		}
	}
}

// Exchange adds what this server has admitted to the counts of all servers, and gets those counts
// for the same callers.
func (g *Group) Exchange(ctx context.Context) error {
	g.mu.Lock()
	limiters := g.limiters
	g.mu.Unlock()
	used := make(map[string]int)
	for _, l := range limiters {
		l.taken(used)
	}
	if len(used) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	totals, err := g.shared.Add(ctx, used)
	for _, l := range limiters {
		l.exchanged(used, totals)
	}
	return err
}

// taken moves what the limiter has counted to used, by key.
func (l *Limiter) taken(used map[string]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for caller, n := range l.own {
		used[l.name+" "+caller] = n
	}
	clear(l.own)
}

// exchanged stores the counts of all servers. What has no total was not added, and is kept for the
// next exchange.
func (l *Limiter) exchanged(used map[string]int, totals map[string]Total) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for key, n := range used {
		caller, ours := strings.CutPrefix(key, l.name+" ")
		if !ours {
			continue
		}
		total, added := totals[key]
		if !added {
			l.own[caller] += n
			continue
		}
		w := l.of(caller, now)
		w.used, w.ends = total.Used+l.own[caller], now.Add(total.Left)
	}
}
