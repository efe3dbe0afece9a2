package models

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/meshyard/meshyard/internal/fieldset"
)

// fieldOf returns a field to read with a file, which depends on the ID.
func fieldOf(id int64) FileFields {
	if id%3 == 0 {
		return fieldset.Of[File]("Name")
	}
	return fieldset.Of[File]("Size")
}

// TestBatcherShares checks that reads that arrive while all readers are busy share statements, and
// that each read gets its own value.
func TestBatcherShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var mu sync.Mutex
		var batches [][]int64
		b := &fileBatcher{read: func(_ context.Context, fields FileFields, keys []int64) (map[int64]*File, error) {
			mu.Lock()
			batches = append(batches, keys)
			mu.Unlock()
			<-gate
			found := make(map[int64]*File)
			for _, k := range keys {
				if !fields.Has(fieldOf(k)) {
					t.Errorf("the fields of read %d are missing: %s", k, fields)
				}
				if k%2 == 0 {
					found[k] = &File{ID: k}
				}
			}
			return found, nil
		}}
		var all sync.WaitGroup
		for key := range int64(maxReaders + 250) {
			all.Go(func() {
				f, ok, err := b.get(context.Background(), fieldOf(key), key)
				if err != nil || ok != (key%2 == 0) || ok && f.ID != key {
					t.Errorf("get %d: %v, %v, %v", key, f, ok, err)
				}
			})
			synctest.Wait()
		}
		close(gate)
		all.Wait()
		synctest.Wait() // until the readers have found the queue empty
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(batches) != maxReaders+3 {
			t.Errorf("%d statements, want one for each of %d readers, then the rest in 3", len(batches), maxReaders)
		}
		for i, keys := range batches {
			if want := map[bool]int{true: 1, false: fullQueue}[i == 0]; i < maxReaders && len(keys) != want {
				t.Errorf("reader %d began with %d keys, want %d", i, len(keys), want)
			}
			if len(keys) > maxBatch {
				t.Errorf("a statement of %d keys, at most %d are wanted", len(keys), maxBatch)
			}
		}
		if b.readers != 0 || len(b.queue) != 0 {
			t.Errorf("%d readers and %d batches are left", b.readers, len(b.queue))
		}
	})
}

// TestBatcherCallers checks that a caller that is canceled does not cancel a statement, which other
// callers may share, and that all callers of a batch get its error.
func TestBatcherCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, fault := make(chan struct{}), errors.New("fault")
		b := &fileBatcher{read: func(ctx context.Context, _ FileFields, _ []int64) (map[int64]*File, error) {
			<-gate
			if err := ctx.Err(); err != nil {
				t.Errorf("a statement: %v", err)
			}
			return nil, fault
		}}
		ctx, leave := context.WithCancel(context.Background())
		var all sync.WaitGroup
		all.Go(func() {
			if _, _, err := b.get(ctx, FileFields{}, 1); !errors.Is(err, context.Canceled) {
				t.Errorf("who left: %v", err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if _, _, err := b.get(context.Background(), FileFields{}, 2); !errors.Is(err, fault) {
				t.Errorf("who stayed: %v", err)
			}
		})
		leave()
		synctest.Wait()
		close(gate)
		all.Wait()
	})
}

// TestBatcherSurvivesPanic checks that a panic is returned as an error, and that the batcher keeps
// working.
func TestBatcherSurvivesPanic(t *testing.T) {
	b := &fileBatcher{read: func(_ context.Context, _ FileFields, ids []int64) (map[int64]*File, error) {
		if ids[0] == 1 {
			panic("fault")
		}
		return map[int64]*File{ids[0]: {ID: ids[0]}}, nil
	}}
	if _, _, err := b.get(context.Background(), FileFields{}, 1); err == nil {
		t.Error("a panic is no error")
	}
	if f, ok, err := b.get(context.Background(), FileFields{}, 2); !ok || err != nil || f.ID != 2 {
		t.Errorf("after a panic: %v, %v, %v", f, ok, err)
	}
}
