package graph

import (
	"context"
	"errors"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/models"
)

// What came together is read together: objects that one statement, or one page of a list, brought are a cohort, and a field of
// one of them is read for all of them at once, and once. So an answer costs as many statements as it has fields that need
// one, whatever the lengths of its lists, and no read waits for a clock to find others to join.

// cohort is objects that came together, and what has been read for them.
type cohort[O any] struct {
	members []O

	mu    sync.Mutex
	reads map[any]any // of a *loader[V]: its *read[V]
}

// read is one statement's worth of values, read when first wanted.
type read[V any] struct {
	once  sync.Once
	found map[int64]V
	err   error
}

// loader reads values by id. A type of object must use it with one key alone, for a cohort remembers what it read by the loader.
type loader[V any] struct {
	read   func(ctx context.Context, ids []int64) (map[int64]V, error)
	gather func(l *loaders, found map[int64]V) // makes a cohort of what was read; nil where it has no fields of its own
}

// pointers is a loader of objects.
func pointers[O comparable](read func(context.Context, []int64) (map[int64]O, error)) loader[O] {
	return loader[O]{read, func(l *loaders, found map[int64]O) {
		all := make([]O, 0, len(found))
		for _, o := range found {
			all = append(all, o)
		}
		gather(l, all)
	}}
}

// lists is a loader of lists of objects.
func lists[O comparable](read func(context.Context, []int64) (map[int64][]O, error)) loader[[]O] {
	return loader[[]O]{read, func(l *loaders, found map[int64][]O) {
		var all []O
		for _, list := range found {
			all = append(all, list...)
		}
		gather(l, all)
	}}
}

// loaders are the loaders, which all operations share, and the cohorts of one operation.
type loaders struct {
	*readers

	mu      sync.Mutex
	cohorts map[any]any // of an O: its *cohort[O]
}

// readers are what can be read by id, made once: a cohort remembers what it read by the address of the loader.
type readers struct {
	users      loader[*models.User]
	things     loader[*models.Thing]
	makes      loader[*models.Make]
	comments   loader[*models.Comment]
	categories loader[*models.Category]
	files      loader[*models.File]
	tags       loader[[]string]
	filesOn    map[models.TargetType]*loader[[]*models.File]
	counts     map[models.Count]*loader[int64]
}

func newReaders(s *models.Store) *readers {
	l := &readers{
		users:      pointers(s.UsersByID),
		things:     pointers(s.ThingsByID),
		makes:      pointers(s.MakesByID),
		comments:   pointers(s.CommentsByID),
		categories: pointers(s.CategoriesByID),
		files:      pointers(s.FilesByID),
		tags:       loader[[]string]{read: s.TagsOf},
		filesOn:    make(map[models.TargetType]*loader[[]*models.File]),
		counts:     make(map[models.Count]*loader[int64]),
	}
	for _, on := range []models.TargetType{models.OnThing, models.OnMake, models.OnComment} {
		files := lists(func(ctx context.Context, ids []int64) (map[int64][]*models.File, error) {
			return s.FilesOn(ctx, on, ids)
		})
		l.filesOn[on] = &files
	}
	for _, count := range models.Counts {
		l.counts[count] = &loader[int64]{read: func(ctx context.Context, ids []int64) (map[int64]int64, error) {
			return s.Count(ctx, count, ids)
		}}
	}
	return l
}

type loadersKey struct{}

// withLoaders gives each operation cohorts of its own.
type withLoaders struct{ readers *readers }

func (withLoaders) ExtensionName() string                   { return "Loaders" }
func (withLoaders) Validate(graphql.ExecutableSchema) error { return nil }
func (w withLoaders) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	return next(context.WithValue(ctx, loadersKey{}, &loaders{readers: w.readers, cohorts: make(map[any]any)}))
}

func loadersOf(ctx context.Context) *loaders { return ctx.Value(loadersKey{}).(*loaders) }

// gather makes a cohort of objects, but for those that are in one already.
func gather[O comparable](l *loaders, objs []O) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &cohort[O]{reads: make(map[any]any)}
	for _, o := range objs {
		if _, there := l.cohorts[o]; !there {
			l.cohorts[o] = c
			c.members = append(c.members, o)
		}
	}
}

// cohortOf gives the cohort of an object, which is one of its own where it came alone.
func cohortOf[O comparable](l *loaders, o O) *cohort[O] {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.cohorts[o].(*cohort[O])
	if !ok {
		c = &cohort[O]{members: []O{o}, reads: make(map[any]any)}
		l.cohorts[o] = c
	}
	return c
}

// readFor gives what a loader reads for all of a cohort, by id. Members whose key is 0 refer to nothing.
func readFor[O, V any](ctx context.Context, c *cohort[O], l *loader[V], key func(O) int64) (map[int64]V, error) {
	c.mu.Lock()
	r, ok := c.reads[l].(*read[V])
	if !ok {
		r = new(read[V])
		c.reads[l] = r
	}
	c.mu.Unlock()
	r.once.Do(func() {
		r.err = errors.New("a read ended in a panic") // unless it ends below: the panic is the first reader's, the error the others'
		ids := make([]int64, 0, len(c.members))
		known := make(map[int64]bool, len(c.members))
		for _, o := range c.members {
			if id := key(o); id != 0 && !known[id] {
				known[id] = true
				ids = append(ids, id)
			}
		}
		if r.found, r.err = l.read(ctx, ids); r.err == nil && l.gather != nil {
			l.gather(loadersOf(ctx), r.found)
		}
	})
	return r.found, r.err
}

// each gives for each object the value that belongs to its key, the zero value where there is none.
func each[O comparable, V, R any](ctx context.Context, objs []O, l *loader[V], key func(O) int64, as func(V) R) ([]R, error) {
	values := make([]R, len(objs))
	for i, o := range objs {
		found, err := readFor(ctx, cohortOf(loadersOf(ctx), o), l, key)
		if err != nil {
			return nil, err
		}
		values[i] = as(found[key(o)])
	}
	return values, nil
}

// same is the conversion that changes nothing.
func same[V any](v V) V { return v }

func count32(n int64) int32 { return int32(min(n, 1<<31-1)) }
