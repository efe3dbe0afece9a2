package graph

import (
	"context"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/models"
)

// loadWait is how long a loader waits for more ids before it reads. The siblings of a list come together in one
// call; the wait gathers what lies deeper, such as the owner of each entry's file.
const loadWait = 300 * time.Microsecond

// loader reads values by id in as few statements as a list needs, whatever its length. It lives as long as one operation and
// remembers nothing, so that a field behind a mutation sees what the mutation did.
type loader[V any] struct {
	read func(ctx context.Context, ids []int64) (map[int64]V, error)

	mu   sync.Mutex
	next *load[V]
}

type load[V any] struct {
	ids   map[int64]struct{}
	done  chan struct{}
	found map[int64]V
	err   error
}

// all gives the values of ids; what is missing is missing in the map.
func (l *loader[V]) all(ctx context.Context, ids []int64) (map[int64]V, error) {
	l.mu.Lock()
	mine := l.next
	if mine == nil {
		mine = &load[V]{ids: make(map[int64]struct{}), done: make(chan struct{})}
		l.next = mine
		time.AfterFunc(loadWait, func() { l.run(ctx, mine) })
	}
	for _, id := range ids {
		mine.ids[id] = struct{}{}
	}
	l.mu.Unlock()
	<-mine.done
	return mine.found, mine.err
}

func (l *loader[V]) run(ctx context.Context, mine *load[V]) {
	l.mu.Lock()
	l.next = nil
	l.mu.Unlock()
	ids := make([]int64, 0, len(mine.ids))
	for id := range mine.ids {
		ids = append(ids, id)
	}
	mine.found, mine.err = l.read(ctx, ids)
	close(mine.done)
}

// loaders are the loaders of one operation.
type loaders struct {
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

func newLoaders(s *models.Store) *loaders {
	l := &loaders{
		users:      loader[*models.User]{read: s.UsersByID},
		things:     loader[*models.Thing]{read: s.ThingsByID},
		makes:      loader[*models.Make]{read: s.MakesByID},
		comments:   loader[*models.Comment]{read: s.CommentsByID},
		categories: loader[*models.Category]{read: s.CategoriesByID},
		files:      loader[*models.File]{read: s.FilesByID},
		tags:       loader[[]string]{read: s.TagsOf},
		filesOn:    make(map[models.TargetType]*loader[[]*models.File]),
		counts:     make(map[models.Count]*loader[int64]),
	}
	for _, on := range []models.TargetType{models.OnThing, models.OnMake, models.OnComment} {
		l.filesOn[on] = &loader[[]*models.File]{read: func(ctx context.Context, ids []int64) (map[int64][]*models.File, error) {
			return s.FilesOn(ctx, on, ids)
		}}
	}
	for _, count := range models.Counts {
		l.counts[count] = &loader[int64]{read: func(ctx context.Context, ids []int64) (map[int64]int64, error) {
			return s.Count(ctx, count, ids)
		}}
	}
	return l
}

type loadersKey struct{}

// withLoaders gives each operation loaders of its own.
type withLoaders struct{ store *models.Store }

func (withLoaders) ExtensionName() string                   { return "Loaders" }
func (withLoaders) Validate(graphql.ExecutableSchema) error { return nil }
func (w withLoaders) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	return next(context.WithValue(ctx, loadersKey{}, newLoaders(w.store)))
}

func loadersOf(ctx context.Context) *loaders { return ctx.Value(loadersKey{}).(*loaders) }

// each gives for each object the value that belongs to its key, the zero value where there is none.
func each[O, V, R any](ctx context.Context, objs []O, l *loader[V], key func(O) int64, as func(V) R) ([]R, error) {
	ids := make([]int64, len(objs))
	for i, o := range objs {
		ids[i] = key(o)
	}
	found, err := l.all(ctx, ids)
	if err != nil {
		return nil, err
	}
	values := make([]R, len(objs))
	for i, id := range ids {
		values[i] = as(found[id])
	}
	return values, nil
}

// same is the conversion that changes nothing.
func same[V any](v V) V { return v }

func count32(n int64) int32 { return int32(min(n, 1<<31-1)) }
