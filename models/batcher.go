package models

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/waiting"
)

const (
	maxBatch   = 100 // maximum number of keys in one statement of a batcher
	maxReaders = 4   // maximum number of concurrent statements of a batcher
	worthwhile = 16  // number of queued keys that starts another concurrent statement

	// batchTimeout limits the duration of a statement, in case the database does not respond.
	batchTimeout = 30 * time.Second
)

// batcher is a batch loader: it combines concurrent reads of single keys into one statement. If no
// statement is running, a read starts one, together with the reads of goroutines that are ready to
// run. Reads that arrive in the meantime are queued and share the next statement, which starts when
// a running one ends or when enough reads are queued. So a single read never waits for others, and
// under load, reads share statements. A read never joins a statement that has already started, so
// it sees every commit that precedes it.
type batcher[K comparable, V any] struct {
	read func(ctx context.Context, keys []K) (map[K]V, error)

	mu      sync.Mutex
	readers int
	queue   []*batch[K, V]
}

type batch[K comparable, V any] struct {
	keys  []K
	done  chan struct{}
	found map[K]V
	err   error
}

func newBatcher[K comparable, V any](read func(ctx context.Context, keys []K) (map[K]V, error)) *batcher[K, V] {
	return &batcher[K, V]{read: read}
}

// get returns the value of key. ok is false if there is none.
func (b *batcher[K, V]) get(ctx context.Context, key K) (value V, ok bool, err error) {
	mine, first := b.join(ctx, key)
	waiting.Begin(ctx)
	if first {
		// Read in the goroutine of the caller, which saves two goroutine switches. Other requests that
		// are ready to run get the chance to join first.
		runtime.Gosched()
		if next := b.take(); next != nil {
			b.fill(shared(ctx), next)
			b.handOver(ctx)
		}
		if err := ctx.Err(); err != nil {
			return value, false, err
		}
	}
	select {
	case <-mine.done:
		value, ok = mine.found[key]
		return value, ok, mine.err
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// join adds key to a queued batch and returns the batch. If first is true, nothing is read at the
// moment, and the caller must read the batch.
func (b *batcher[K, V]) join(ctx context.Context, key K) (mine *batch[K, V], first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.queue); n == 0 || len(b.queue[n-1].keys) == maxBatch {
		b.queue = append(b.queue, &batch[K, V]{done: make(chan struct{})})
	}
	mine = b.queue[len(b.queue)-1]
	mine.keys = append(mine.keys, key)
	if b.readers == 0 {
		b.readers++
		return mine, true
	}
	if b.readers < maxReaders && len(mine.keys) >= worthwhile {
		b.readers++
		go b.serve(shared(ctx))
	}
	return mine, false
}

// shared returns a context for reading batches. Several callers wait for a batch. So the context is
// not canceled with ctx, does not count towards the concurrency limit of the caller's account, and
// does not call the caller's notice of waiting.
func shared(ctx context.Context) context.Context {
	return waiting.WithNotice(auth.WithoutAccount(context.WithoutCancel(ctx)), func() {})
}

// handOver must be called after a caller has read a batch. If other batches were queued in the
// meantime, it starts a goroutine that reads them.
func (b *batcher[K, V]) handOver(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.readers--
		return
	}
	go b.serve(shared(ctx))
}

// serve reads queued batches until the queue is empty.
func (b *batcher[K, V]) serve(ctx context.Context) {
	for next := b.take(); next != nil; next = b.take() {
		b.fill(ctx, next)
		runtime.Gosched() // let requests that are ready to run join the next batch
	}
}

// take removes the next batch from the queue. If there is none, it returns nil and the reader ends.
func (b *batcher[K, V]) take() *batch[K, V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.readers--
		return nil
	}
	next := b.queue[0]
	b.queue = b.queue[1:]
	return next
}

// fill reads a batch. A panic becomes the error of the batch, so that it neither crashes the
// process nor leaves the callers waiting.
func (b *batcher[K, V]) fill(ctx context.Context, now *batch[K, V]) {
	defer close(now.done)
	defer func() {
		if cause := recover(); cause != nil {
			now.err = fmt.Errorf("panic in a batch of %d: %v", len(now.keys), cause)
		}
	}()
	if end, ok := ctx.Deadline(); !ok || time.Until(end) > batchTimeout {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, batchTimeout)
		defer cancel()
	}
	now.found, now.err = b.read(ctx, now.keys)
}
