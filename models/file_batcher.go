package models

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

const (
	maxBatch   = 100 // maximum number of keys in one statement of a batcher
	maxReaders = 4   // maximum number of concurrent statements of a batcher
	fullQueue  = 16  // number of queued keys that starts another concurrent statement

	// batchTimeout limits the duration of a statement, in case the database does not respond.
	batchTimeout = 30 * time.Second
)

// fileBatcher combines concurrent reads of single files, of different requests, into one statement;
// docs/adr/0012-one-loader.md has the measurements. If no statement is running, a read starts one,
// together with the reads of goroutines that are ready to run. Reads that arrive in the meantime
// are queued and share the next statement, which starts when a running one ends or when enough
// reads are queued. So a single read never waits for others, and under load, reads share
// statements. A read never joins a statement that has already started, so it sees every commit that
// precedes it.
type fileBatcher struct {
	// read reads the fields of the files with the given IDs.
	read func(ctx context.Context, fields FileFields, ids []int64) (map[int64]*File, error)

	mu      sync.Mutex
	readers int
	queue   []*fileBatch
}

// fileBatch is a statement for several reads. It reads the fields that any of them needs.
type fileBatch struct {
	fields FileFields
	ids    []int64
	done   chan struct{}
	found  map[int64]*File
	err    error
}

// batcher returns the batcher for reads of ctx. Reads from a replica have one of their own.
func (s *Store) batcher(ctx context.Context) *fileBatcher {
	if database.FromReplica(ctx) {
		return s.replicaFiles
	}
	return s.files
}

// get returns the file with an ID, with at least the given fields. ok is false if there is none.
func (b *fileBatcher) get(ctx context.Context, fields FileFields, id int64) (f *File, ok bool, err error) {
	mine, first := b.join(ctx, fields, id)
	if first {
		// Read in the goroutine of the caller, which saves two goroutine switches. Other requests that
		// are ready to run get the chance to join first.
		runtime.Gosched()
		if next := b.take(); next != nil {
			b.fill(shared(ctx), next)
			b.handOver(ctx)
		}
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
	}
	select {
	case <-mine.done:
		f, ok = mine.found[id]
		return f, ok, mine.err
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

// join adds a read to a queued batch and returns the batch. If first is true, nothing is read at
// the moment, and the caller must read the batch.
func (b *fileBatcher) join(ctx context.Context, fields FileFields, id int64) (mine *fileBatch, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.queue); n == 0 || len(b.queue[n-1].ids) == maxBatch {
		b.queue = append(b.queue, &fileBatch{done: make(chan struct{})})
	}
	mine = b.queue[len(b.queue)-1]
	mine.ids, mine.fields = append(mine.ids, id), mine.fields.With(fields)
	if b.readers == 0 {
		b.readers++
		return mine, true
	}
	if b.readers < maxReaders && len(mine.ids) >= fullQueue {
		b.readers++
		go b.serve(shared(ctx))
	}
	return mine, false
}

// shared returns a context for reading batches. Several callers wait for a batch. So the context is
// not canceled with ctx, and does not count towards the concurrency limit of the caller's account.
func shared(ctx context.Context) context.Context {
	return auth.WithoutAccount(context.WithoutCancel(ctx))
}

// handOver must be called after a caller has read a batch. If other batches were queued in the
// meantime, it starts a goroutine that reads them.
func (b *fileBatcher) handOver(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.readers--
		return
	}
	go b.serve(shared(ctx))
}

// serve reads queued batches until the queue is empty.
func (b *fileBatcher) serve(ctx context.Context) {
	for next := b.take(); next != nil; next = b.take() {
		b.fill(ctx, next)
		runtime.Gosched() // let requests that are ready to run join the next batch
	}
}

// take removes the next batch from the queue. If there is none, it returns nil and the reader ends.
func (b *fileBatcher) take() *fileBatch {
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
func (b *fileBatcher) fill(ctx context.Context, now *fileBatch) {
	defer close(now.done)
	defer func() {
		if cause := recover(); cause != nil {
			now.err = fmt.Errorf("panic in a batch of %d: %v", len(now.ids), cause)
		}
	}()
	if end, ok := ctx.Deadline(); !ok || time.Until(end) > batchTimeout {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, batchTimeout)
		defer cancel()
	}
	now.found, now.err = b.read(ctx, now.fields, now.ids)
}
