package graph

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/models"
)

// What came together is read together: objects that one statement, or one page of a list, brought are a cohort, and a field of
// one of them is read for all of them at once, and once. So an answer costs as many statements as it has fields that need
// one, whatever the lengths of its lists, and no read waits for a clock to find others to join.

// cohort is objects that came together, and what has been read for them.
type cohort[O any] struct {
	members []O

	mu    sync.Mutex
	reads map[any]any // of a *loader[V], or what else names it: its *read[V]
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

// fetch reads values and makes a cohort of them.
func (l *loader[V]) fetch(ctx context.Context, ids []int64) (map[int64]V, error) {
	found, err := l.read(ctx, ids)
	if err == nil && l.gather != nil {
		l.gather(loadersOf(ctx), found)
	}
	return found, err
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
	shelves func() (*models.Shelves, error) // all categories, read when first wanted
	whole   *root                           // what the lists of all things hang on, so that those of one operation are read once

	mu      sync.Mutex
	cohorts map[any]any // of an O: its *cohort[O]
}

// readers are what can be read by id, made once: a cohort remembers what it read by the address of the loader.
type readers struct {
	store       *models.Store
	users       loader[*models.User]
	things      loader[*models.Thing]
	makes       loader[*models.Make]
	comments    loader[*models.Comment]
	files       loader[*models.File]
	previews    loader[*models.Preview]
	downloads   loader[*models.Download]
	collections loader[*models.Collection]
	tags        loader[*models.Tag]
	tokens      loader[*models.Token]
	apps        loader[*models.Application]
	decisions   loader[*models.ModerationEntry]
	actors      loader[*models.User] // beside users, since a cohort reads by one loader what one field refers to
	tagsOf      loader[[]*models.Tag]
	fileCounts  loader[int64]
	popularity  loader[[]models.PopularityDay]
	html        map[models.MarkdownText]*loader[string]
	filesOn     map[models.TargetType]*loader[[]*models.File]
	images      map[models.TargetType]*loader[*models.File]
	liked       map[models.TargetType]*loader[bool] // by the caller
	collected   loader[bool]                        // by the caller
	followed    loader[bool]                        // by the caller
}

func newReaders(s *models.Store) *readers {
	l := &readers{
		store:       s,
		users:       pointers(s.UsersByID),
		things:      pointers(s.ThingsByID),
		makes:       pointers(s.MakesByID),
		comments:    pointers(s.CommentsByID),
		files:       pointers(s.FilesByID),
		previews:    pointers(s.PreviewsByID),
		downloads:   pointers(s.DownloadsByID),
		collections: pointers(s.CollectionsByID),
		tags:        pointers(s.TagsByID),
		tokens:      pointers(s.TokensByID),
		apps:        pointers(s.ApplicationsByID),
		decisions:   pointers(s.ModerationEntriesByID),
		actors:      pointers(s.UsersByID),
		tagsOf:      lists(s.TagsOf),
		fileCounts:  loader[int64]{read: s.FileCounts},
		popularity:  loader[[]models.PopularityDay]{read: s.Popularity},
		html:        make(map[models.MarkdownText]*loader[string]),
		filesOn:     make(map[models.TargetType]*loader[[]*models.File]),
		images:      make(map[models.TargetType]*loader[*models.File]),
		liked:       make(map[models.TargetType]*loader[bool]),
		collected: loader[bool]{read: func(ctx context.Context, ids []int64) (map[int64]bool, error) {
			return s.CollectedBy(ctx, caller(ctx).UserID, ids)
		}},
		followed: loader[bool]{read: func(ctx context.Context, ids []int64) (map[int64]bool, error) {
			return s.FollowedBy(ctx, caller(ctx).UserID, ids)
		}},
	}
	for _, text := range models.MarkdownTexts {
		l.html[text] = &loader[string]{read: func(ctx context.Context, ids []int64) (map[int64]string, error) { return s.HTML(ctx, text, ids) }}
	}
	for _, on := range []models.TargetType{models.OnThing, models.OnMake, models.OnComment} {
		files := lists(func(ctx context.Context, ids []int64) (map[int64][]*models.File, error) {
			return s.FilesOn(ctx, on, ids)
		})
		l.filesOn[on] = &files
	}
	for _, on := range []models.TargetType{models.OnThing, models.OnMake} {
		images := pointers(func(ctx context.Context, ids []int64) (map[int64]*models.File, error) {
			return s.FirstImages(ctx, on, ids)
		})
		l.images[on] = &images
		l.liked[on] = &loader[bool]{read: func(ctx context.Context, ids []int64) (map[int64]bool, error) {
			return s.LikedBy(ctx, caller(ctx).UserID, on, ids)
		}}
	}
	return l
}

type loadersKey struct{}

// errChanged says that what an object refers to was deleted between the two reads. When both are read again, both are gone.
var errChanged = &models.Error{Code: models.Conflict, Message: "what was asked for was changed while it was read: ask again"}

func changedMeanwhile(r *graphql.Response) bool {
	return r != nil && slices.ContainsFunc(r.Errors, func(e *gqlerror.Error) bool { return e.Message == errChanged.Message })
}

// withLoaders gives each operation cohorts of its own, and runs a query again, a few times, whose objects changed while it was read.
type withLoaders struct{ readers *readers }

func (withLoaders) ExtensionName() string                   { return "Loaders" }
func (withLoaders) Validate(graphql.ExecutableSchema) error { return nil }
func (w withLoaders) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	operation := next(w.with(ctx))
	if graphql.GetOperationContext(ctx).Operation.Operation != ast.Query {
		return operation
	}
	return func(ctx context.Context) *graphql.Response {
		response := operation(ctx)
		for tries := 0; tries < 5 && changedMeanwhile(response); tries++ {
			again := w.with(ctx)
			operation = next(again)
			response = operation(again)
		}
		return response
	}
}

// with adds loaders that have read nothing yet.
func (w withLoaders) with(ctx context.Context) context.Context {
	l := &loaders{readers: w.readers, whole: new(root), cohorts: make(map[any]any)}
	l.shelves = sync.OnceValues(func() (*models.Shelves, error) {
		shelves, err := w.readers.store.Categories(ctx)
		if err == nil {
			gather(l, shelves.All)
		}
		return shelves, err
	})
	return context.WithValue(models.WithBudget(ctx), loadersKey{}, l)
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

// readFor gives what is read for all of a cohort, by id, under a name that tells it from all else that is. Members whose key is 0 refer to nothing.
func readFor[O, V any](ctx context.Context, c *cohort[O], name any, key func(O) int64, fetch func(ctx context.Context, ids []int64) (map[int64]V, error)) (map[int64]V, error) {
	c.mu.Lock()
	r, ok := c.reads[name].(*read[V])
	if !ok {
		r = new(read[V])
		c.reads[name] = r
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
		r.found, r.err = fetch(ctx, ids)
	})
	return r.found, r.err
}

// each gives for each object the value that belongs to its key, the zero value where there is none.
func each[O comparable, V, R any](ctx context.Context, objs []O, l *loader[V], key func(O) int64, as func(V) R) ([]R, error) {
	values := make([]R, len(objs))
	for i, o := range objs {
		found, err := readFor(ctx, cohortOf(loadersOf(ctx), o), l, key, l.fetch)
		if err != nil {
			return nil, err
		}
		values[i] = as(found[key(o)])
	}
	return values, nil
}

// same is the conversion that changes nothing.
func same[V any](v V) V { return v }
