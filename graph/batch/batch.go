// Package batch loads related objects for many objects with one statement (a batch loader).
//
// Objects that one statement or one page of a list returned form a batch. Objects of several lists
// for which an operation selects the same fields are joined into one batch (see [Join]). The first
// time a field of one member is resolved, it is loaded for the whole batch. So the number of
// statements of an operation depends on its fields, and not on the number or the length of its
// lists. No load waits for a timer to collect more keys.
package batch

import (
	"context"
	"errors"
	"sync"

	"github.com/meshyard/meshyard/internal/waiting"
)

// Registry holds the batches of one operation.
type Registry struct {
	mu      sync.Mutex
	batches map[any]*Batch // by object
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{batches: make(map[any]*Batch)} }

type contextKey struct{}

// WithRegistry returns a context that carries the registry.
func WithRegistry(ctx context.Context, r *Registry) context.Context {
	return context.WithValue(ctx, contextKey{}, r)
}

// FromContext returns the registry of the operation. It panics if there is none.
func FromContext(ctx context.Context) *Registry { return ctx.Value(contextKey{}).(*Registry) }

// Batch is a set of objects of one type that were read together, with the values that were loaded
// for them.
type Batch struct {
	members []any

	mu    sync.Mutex
	loads map[any]any // key of the load to its *load[V]
}

// load is the result of one statement.
type load[V any] struct {
	once   sync.Once
	values map[int64]V
	err    error
}

// Add makes a batch of the objects that do not belong to a batch yet.
func Add[O comparable](r *Registry, objects []O) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := &Batch{loads: make(map[any]any)}
	for _, o := range objects {
		if _, ok := r.batches[o]; !ok {
			r.batches[o] = b
			b.members = append(b.members, o)
		}
	}
}

// Split puts an object into a batch of its own, so that its fields are not loaded for the other
// members of its previous batch.
func Split(r *Registry, o any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches[o] = &Batch{members: []any{o}, loads: make(map[any]any)}
}

// Join makes one batch of the objects of each set, because the same fields will be loaded for them.
// A batch is not joined if a value was already loaded for it, or if several sets contain objects of
// it: joining it would load values that the operation does not select. No load may run
// concurrently.
func Join(r *Registry, sets [][]any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const several = -1
	setOf := make(map[*Batch]int)
	for n, set := range sets {
		for _, o := range set {
			if b := r.batches[o]; b != nil {
				if before, ok := setOf[b]; ok && before != n {
					setOf[b] = several
				} else {
					setOf[b] = n
				}
			}
		}
	}
	for n, set := range sets {
		joined := &Batch{loads: make(map[any]any)}
		for _, o := range set {
			b := r.batches[o]
			switch {
			case b == nil:
				b = &Batch{members: []any{o}}
			case b == joined || setOf[b] != n || len(b.loads) > 0:
				continue
			}
			for _, member := range b.members {
				r.batches[member] = joined
			}
			joined.members = append(joined.members, b.members...)
		}
	}
}

// Of returns the batch of an object. An object that was not added gets a batch of its own.
func Of(r *Registry, o any) *Batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.batches[o]
	if !ok {
		b = &Batch{members: []any{o}, loads: make(map[any]any)}
		r.batches[o] = b
	}
	return b
}

// Once calls fetch on the first call for key, with the IDs of all members of the batch. Later calls
// return the same values and error. id returns the ID to fetch for a member, or 0 for none.
func Once[O, V any](
	ctx context.Context, b *Batch, key any, id func(O) int64,
	fetch func(ctx context.Context, ids []int64) (map[int64]V, error),
) (map[int64]V, error) {
	b.mu.Lock()
	l, ok := b.loads[key].(*load[V])
	if !ok {
		l = new(load[V])
		b.loads[key] = l
	}
	b.mu.Unlock()
	if ok {
		waiting.Begin(ctx) // another goroutine may be fetching
	}
	l.once.Do(func() {
		l.err = errors.New("batch: fetch panicked") // for the other readers, if fetch panics below
		ids := make([]int64, 0, len(b.members))
		seen := make(map[int64]bool, len(b.members))
		for _, o := range b.members {
			if id := id(o.(O)); id != 0 && !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
		l.values, l.err = fetch(ctx, ids)
	})
	return l.values, l.err
}
