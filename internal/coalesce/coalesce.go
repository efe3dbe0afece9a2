// Package coalesce lets calls that want the same at the same time share one run.
package coalesce

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// maxRun bounds a run that is shared, which ends with nobody's request.
const maxRun = time.Minute

// Group collapses calls by key. A call that finds no other of its key under way runs at once, by itself. Those that come meanwhile share the next run,
// which begins when the first ends. So a call never joins a run that had begun, and what it gets is as new as if it had run alone: it
// sees every commit that came before it. (The usual single flight joins runs under way, and may hand out what is older than the call.)
type Group[V any] struct {
	mu    sync.Mutex
	lanes map[string]*lane[V]
}

// lane is a key of which a run is under way.
type lane[V any] struct{ next *run[V] }

// run is one that calls wait for.
type run[V any] struct {
	ctx   context.Context
	fn    func(context.Context) V
	done  chan struct{}
	value V
	err   error
}

// Do gives what fn gives, in a run of its own or one that is shared with other calls of the key; these must be such that each other's fn would give them
// the same. The error is ctx's, where that ends first, or that of a shared run that ended in a panic.
func (g *Group[V]) Do(ctx context.Context, key string, fn func(context.Context) V) (V, error) {
	g.mu.Lock()
	l, busy := g.lanes[key]
	if !busy {
		if g.lanes == nil {
			g.lanes = make(map[string]*lane[V])
		}
		g.lanes[key] = new(lane[V])
		g.mu.Unlock()
		defer g.proceed(key)
		return fn(ctx), nil
	}
	if l.next == nil {
		// Not under the cancellation of the first who waits for it: others do too.
		l.next = &run[V]{ctx: context.WithoutCancel(ctx), fn: fn, done: make(chan struct{})}
	}
	shared := l.next
	g.mu.Unlock()
	select {
	case <-shared.done:
		return shared.value, shared.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// proceed begins the run that calls of the key wait for, where there are any.
func (g *Group[V]) proceed(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lanes[key]
	if l.next == nil {
		delete(g.lanes, key)
		return
	}
	shared := l.next
	l.next = nil
	go func() {
		defer g.proceed(key)
		defer close(shared.done)
		defer func() {
			if cause := recover(); cause != nil {
				shared.err = fmt.Errorf("panic in a shared run: %v", cause)
			}
		}()
		ctx, cancel := context.WithTimeout(shared.ctx, maxRun)
		defer cancel()
		shared.value = shared.fn(ctx)
	}()
}
