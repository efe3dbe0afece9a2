// Package batch loads the fields of objects that were read together with one statement for all of
// them.
//
// Objects that one statement or one page of a list returned form a batch, and so do those of
// several lists for which an operation selects the same fields (see [Join]). The first time a field
// of one of them is resolved, it is loaded for the whole batch. The number of statements of an
// operation therefore depends on its fields and not on the number or the lengths of its lists, and
// no load waits for a timer to collect more keys.
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

// Batch is a set of objects of one type that were read together, with what has been loaded for
// them.
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

// Add makes a batch of the objects, except for those that belong to one already.
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

// Split makes a batch of an object alone: its fields are loaded for no other member of its batch.
func Split(r *Registry, o any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches[o] = &Batch{members: []any{o}, loads: make(map[any]any)}
}

// Join makes one batch of the objects of each set, for which the same fields are about to be
// loaded. A batch stays as it is if something was loaded for it already, or if several sets have
// objects of it: joining those would load values that the operation does not select. Nothing may be
// loaded meanwhile.
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

// Of returns the batch of an object. An object that was not added is a batch of its own.
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

// Once calls fetch with the ids of all members of the batch on the first call for key, and returns
// the same values and error on every later call. id returns the id to fetch for a member, or 0 for
// none.
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
