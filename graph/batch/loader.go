package batch

import "context"

// Loader loads values by ID. A batch caches the results by the address of the Loader. Always use a
// Loader with the same id function for one type of object; to load by another ID, create another
// Loader.
type Loader[V any] struct {
	fetch func(ctx context.Context, ids []int64) (map[int64]V, error)
	add   func(r *Registry, values map[int64]V) // adds the values as a batch; may be nil
}

// Values returns a loader of values that are not objects with fields to load.
func Values[V any](fetch func(context.Context, []int64) (map[int64]V, error)) *Loader[V] {
	return &Loader[V]{fetch: fetch}
}

// Objects returns a loader of objects. The objects of one load form a batch.
func Objects[O comparable](fetch func(context.Context, []int64) (map[int64]O, error)) *Loader[O] {
	return &Loader[O]{fetch, func(r *Registry, values map[int64]O) {
		all := make([]O, 0, len(values))
		for _, o := range values {
			all = append(all, o)
		}
		Add(r, all)
	}}
}

// Lists returns a loader of lists of objects. All objects of one load form one batch.
func Lists[O comparable](fetch func(context.Context, []int64) (map[int64][]O, error)) *Loader[[]O] {
	return &Loader[[]O]{fetch, func(r *Registry, values map[int64][]O) {
		var all []O
		for _, list := range values {
			all = append(all, list...)
		}
		Add(r, all)
	}}
}

func (l *Loader[V]) load(ctx context.Context, ids []int64) (map[int64]V, error) {
	values, err := l.fetch(ctx, ids)
	if err == nil && l.add != nil {
		l.add(FromContext(ctx), values)
	}
	return values, err
}

// Load returns, for each object, the value for the ID that id returns, or the zero value if there
// is none.
func Load[O comparable, V any](ctx context.Context, objects []O, l *Loader[V], id func(O) int64) ([]V, error) {
	return LoadAs(ctx, objects, l, id, func(v V) V { return v })
}

// LoadAs is like Load and converts each value.
func LoadAs[O comparable, V, R any](ctx context.Context, objects []O, l *Loader[V], id func(O) int64, as func(V) R) ([]R, error) {
	results := make([]R, len(objects))
	r := FromContext(ctx)
	for i, o := range objects {
		values, err := Once(ctx, Of(r, o), l, id, l.load)
		if err != nil {
			return nil, err
		}
		results[i] = as(values[id(o)])
	}
	return results, nil
}
