package models

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/waiting"
)

const (
	maxBatch   = 100 // keys in one statement of a batcher
	maxReaders = 4   // statements of a batcher under way at once
	worthwhile = 16  // waiting keys that justify another concurrent statement

	// batchTimeout frees a reader from a database that does not answer.
	batchTimeout = 30 * time.Second
)

// batcher turns single reads that are wanted at the same time into one statement. A read that finds
// no statement under way starts at once; those that come meanwhile go together in the next, which
// begins when the first ends or when enough of them have gathered. So a lone reader waits for
// nobody, and a crowd shares statements. A read never joins a statement that had already begun, so
// it sees every commit that came before it.
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

// get returns the value of key; ok is false where there is none.
func (b *batcher[K, V]) get(ctx context.Context, key K) (value V, ok bool, err error) {
	mine, alone := b.join(ctx, key)
	if alone {
		// In the goroutine of the caller, which saves two changes of goroutines. It takes no turn of
		// the caller's: those who come meanwhile wait for its end.
		b.fill(auth.WithoutAccount(ctx), mine)
		b.handOver(ctx)
	} else {
		waiting.Begin(ctx)
	}
	select {
	case <-mine.done:
		value, ok = mine.found[key]
		return value, ok, mine.err
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// join returns the batch that key belongs to, and whether the caller reads it, alone.
func (b *batcher[K, V]) join(ctx context.Context, key K) (mine *batch[K, V], alone bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readers == 0 {
		b.readers++
		return &batch[K, V]{keys: []K{key}, done: make(chan struct{})}, true
	}
	if n := len(b.queue); n == 0 || len(b.queue[n-1].keys) == maxBatch {
		b.queue = append(b.queue, &batch[K, V]{done: make(chan struct{})})
	}
	mine = b.queue[len(b.queue)-1]
	mine.keys = append(mine.keys, key)
	if b.readers < maxReaders && len(mine.keys) >= worthwhile {
		b.readers++
		go b.serve(shared(ctx))
	}
	return mine, false
}

// shared returns the context of a batch: not under the cancellation of one caller, nor in its turn,
// because others wait for the batch too. Nor does it announce to the caller that it waits.
func shared(ctx context.Context) context.Context {
	return waiting.WithNotice(auth.WithoutAccount(context.WithoutCancel(ctx)), func() {})
}

// handOver ends the reading of a caller. Batches that were queued meanwhile are read by a goroutine
// of their own.
func (b *batcher[K, V]) handOver(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.readers--
		return
	}
	go b.serve(shared(ctx))
}

// serve reads batch after batch until none is left.
func (b *batcher[K, V]) serve(ctx context.Context) {
	for {
		b.mu.Lock()
		if len(b.queue) == 0 {
			b.readers--
			b.mu.Unlock()
			return
		}
		next := b.queue[0]
		b.queue = b.queue[1:]
		b.mu.Unlock()
		b.fill(ctx, next)
	}
}

// fill reads a batch. A panic is an error of those who wait for it: it must not take the process
// along, and them not leave waiting.
func (b *batcher[K, V]) fill(ctx context.Context, now *batch[K, V]) {
	defer close(now.done)
	defer func() {
		if cause := recover(); cause != nil {
			now.err = fmt.Errorf("panic in a batch of %d: %v", len(now.keys), cause)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	now.found, now.err = b.read(ctx, now.keys)
}
