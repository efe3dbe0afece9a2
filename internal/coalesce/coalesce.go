// Package coalesce lets concurrent calls that want the same result share one execution. In contrast
// to golang.org/x/sync/singleflight, a call never gets a result that was read before the call
// began.
package coalesce

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// maxRun limits the duration of a shared execution, because the end of a single request does not
// cancel it.
const maxRun = time.Minute

// Group coalesces calls by key. A call without a concurrent call of the same key executes at once.
// Calls that arrive during an execution share the next one, which starts when the current one ends.
// So a call never joins an execution that has started, and its result is as fresh as if it had
// executed alone: it includes every commit that preceded the call. (golang.org/x/sync/singleflight
// joins executions in progress and can return older results.)
type Group[V any] struct {
	mu    sync.Mutex
	lanes map[string]*lane[V]
}

// lane is a key with an execution in progress.
type lane[V any] struct{ next *run[V] }

// run is the next execution of a key, which calls are waiting for.
type run[V any] struct {
	ctx   context.Context
	fn    func(context.Context) V
	done  chan struct{}
	value V
	err   error
}

// Do returns the result of fn, executed for this call or shared with other calls of the same key.
// All functions of a key must be interchangeable. The error is that of ctx if it is done first, or
// that of a shared execution that panicked.
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
		// The request of the first caller may be canceled while others still wait.
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

// proceed starts the next execution of key if calls wait for it.
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
