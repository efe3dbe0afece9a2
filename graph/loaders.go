package graph

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/peroperation"
	"github.com/meshyard/meshyard/internal/tracing"
	"github.com/meshyard/meshyard/models"
)

// loaders has the batch loaders of the schema and the state of one operation.
type loaders struct {
	*sharedLoaders
	// categories reads the category tree. It caches the tree for a query. A mutation changes the
	// counts of categories, and a subscription reads them again later.
	categories func() (*models.CategoryTree, error)
	root       *root       // owner of the unfiltered lists of things
	stale      atomic.Bool // set if the reads of the operation are inconsistent
}

// sharedLoaders are the batch loaders that all operations share.
type sharedLoaders struct {
	store             *models.Store
	users             *batch.Loader[*models.User]
	things            *batch.Loader[*models.Thing]
	makes             *batch.Loader[*models.Make]
	comments          *batch.Loader[*models.Comment]
	files             *batch.Loader[*models.File]
	avatars, covers   *batch.Loader[*models.File] // two loaders: a user refers to two files
	previews          *batch.Loader[*models.Preview]
	downloads         *batch.Loader[*models.Download]
	collections       *batch.Loader[*models.Collection]
	tags              *batch.Loader[*models.Tag]
	tokens            *batch.Loader[*models.Token]
	applications      *batch.Loader[*models.Application]
	moderationEntries *batch.Loader[*models.ModerationEntry]
	// A moderation entry refers to two users, so it needs two loaders.
	actors  *batch.Loader[*models.User]
	reports *batch.Loader[*models.Report]
	// A report refers to four users: the reporter, the decider, the reported user, and perhaps a user
	// as its target.
	deciders    *batch.Loader[*models.User]
	targetUsers *batch.Loader[*models.User]
	tagsOf      *batch.Loader[[]*models.Tag]
	fileCounts  *batch.Loader[map[models.FileKind]int64]
	popularity  *batch.Loader[[]models.PopularityDay]
	html        map[models.LongText]*batch.Loader[string]
	filesOn     map[models.TargetType]*batch.Loader[[]*models.File]
	images      map[models.TargetType]*batch.Loader[*models.File]
	marks       *batch.Loader[models.Marks]               // of the caller on things
	liked       map[models.TargetType]*batch.Loader[bool] // by the caller, except things
	followed    *batch.Loader[bool]                       // by the caller
	watched     map[models.TargetType]*batch.Loader[bool] // by the caller, except things
	// The caller's collections that contain a thing.
	holding       *batch.Loader[[]*models.Collection]
	notifications *batch.Loader[*models.Notification]
	webhooks      *batch.Loader[*models.Webhook]
	deliveries    *batch.Loader[*models.WebhookDelivery] // of webhooks
	feedItems     *batch.Loader[model.FeedItem]          // by the ID of the feed entry

	needs peroperation.Cache[needs]
}

func newLoaders(s *models.Store) *sharedLoaders {
	l := &sharedLoaders{
		store:             s,
		users:             batch.Objects(s.UsersByID),
		things:            batch.Objects(s.ThingsByID),
		makes:             batch.Objects(s.MakesByID),
		comments:          batch.Objects(s.CommentsByID),
		files:             batch.Objects(s.FilesByID),
		avatars:           batch.Objects(s.ShownFilesByID),
		covers:            batch.Objects(s.ShownFilesByID),
		previews:          batch.Objects(s.PreviewsByID),
		downloads:         batch.Objects(s.DownloadsByID),
		collections:       batch.Objects(s.CollectionsByID),
		tags:              batch.Objects(s.TagsByID),
		tokens:            batch.Objects(s.TokensByID),
		applications:      batch.Objects(s.ApplicationsByID),
		moderationEntries: batch.Objects(s.ModerationEntriesByID),
		actors:            batch.Objects(s.UsersByID),
		reports:           batch.Objects(s.ReportsByID),
		deciders:          batch.Objects(s.UsersByID),
		targetUsers:       batch.Objects(s.UsersByID),
		tagsOf:            batch.Lists(s.TagsOf),
		fileCounts:        batch.Values(s.FileCounts),
		popularity:        batch.Values(s.Popularity),
		html:              make(map[models.LongText]*batch.Loader[string]),
		filesOn:           make(map[models.TargetType]*batch.Loader[[]*models.File]),
		images:            make(map[models.TargetType]*batch.Loader[*models.File]),
		liked:             make(map[models.TargetType]*batch.Loader[bool]),
		watched:           make(map[models.TargetType]*batch.Loader[bool]),
		notifications:     batch.Objects(s.NotificationsByID),
		webhooks:          batch.Objects(s.WebhooksByID),
		deliveries:        batch.Objects(s.WebhookDeliveriesByID),
		feedItems: batch.Values(func(ctx context.Context, ids []int64) (map[int64]model.FeedItem, error) {
			return feedItems(ctx, s, ids)
		}),
		holding: batch.Lists(func(ctx context.Context, ids []int64) (map[int64][]*models.Collection, error) {
			return s.CollectionsHolding(ctx, caller(ctx).UserID, ids)
		}),
		marks: batch.Values(func(ctx context.Context, ids []int64) (map[int64]models.Marks, error) {
			return s.MarksOf(ctx, caller(ctx).UserID, ids)
		}),
		followed: batch.Values(func(ctx context.Context, ids []int64) (map[int64]bool, error) {
			return s.FollowedBy(ctx, caller(ctx).UserID, ids)
		}),
	}
	for _, text := range models.MarkdownTexts {
		l.html[text] = batch.Values(func(ctx context.Context, ids []int64) (map[int64]string, error) {
			return s.HTML(ctx, text, ids)
		})
	}
	for _, on := range []models.TargetType{models.OnThing, models.OnMake, models.OnComment} {
		l.filesOn[on] = batch.Lists(func(ctx context.Context, ids []int64) (map[int64][]*models.File, error) {
			return s.FilesOn(ctx, on, ids)
		})
	}
	for _, on := range []models.TargetType{models.OnThing, models.OnMake} {
		l.images[on] = batch.Objects(func(ctx context.Context, ids []int64) (map[int64]*models.File, error) {
			return s.FirstImages(ctx, on, ids)
		})
	}
	for _, on := range []models.TargetType{models.OnMake, models.OnCollection} {
		l.liked[on] = batch.Values(func(ctx context.Context, ids []int64) (map[int64]bool, error) {
			return s.LikedBy(ctx, caller(ctx).UserID, on, ids)
		})
		l.watched[on] = batch.Values(func(ctx context.Context, ids []int64) (map[int64]bool, error) {
			return s.WatchedBy(ctx, caller(ctx).UserID, on, ids)
		})
	}
	return l
}

// joinBatches implements breadthfirst.Join.
func joinBatches(ctx context.Context, sets [][]any) { batch.Join(batch.FromContext(ctx), sets) }

type loadersKey struct{}

func loadersOf(ctx context.Context) *loaders { return ctx.Value(loadersKey{}).(*loaders) }

// errStale is the error for an object that was deleted or taken down between the reads of one
// operation.
var errStale = &models.Error{Code: models.Conflict, Message: "the data changed while it was read: send the request again"}

// stale marks the reads of the operation as inconsistent, so that a query is run again. It returns
// errStale.
func stale(ctx context.Context) error {
	loadersOf(ctx).stale.Store(true)
	return errStale
}

// loaderExtension creates a batch registry for each operation. It runs a query up to six times if
// objects were deleted or taken down while it read them.
type loaderExtension struct{ shared *sharedLoaders }

// ExtensionName implements graphql.HandlerExtension.
func (loaderExtension) ExtensionName() string { return "Loaders" }

// Validate implements graphql.HandlerExtension.
func (loaderExtension) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptOperation implements graphql.OperationInterceptor.
func (e loaderExtension) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	const maxRuns = 6
	operation := graphql.GetOperationContext(ctx).Operation
	switch operation.Operation {
	case ast.Subscription:
		return next(e.with(tracing.Off(ctx))) // it reads repeatedly until it ends
	case ast.Mutation:
		ctx, span := traced(ctx, operation)
		ctx, end := database.WithSlots(e.with(ctx))
		response := next(ctx)
		return func(ctx context.Context) *graphql.Response {
			defer span.End()
			defer end()
			return response(ctx)
		}
	}
	ran := false
	return func(ctx context.Context) *graphql.Response {
		if ran {
			return nil // a query has only one response
		}
		ran = true
		ctx, span := traced(ctx, operation)
		defer span.End()
		for run := 1; ; run++ {
			opCtx, end := database.WithSlots(e.with(ctx))
			response := next(opCtx)(opCtx)
			end()
			if run == maxRuns || !loadersOf(opCtx).stale.Load() {
				return response
			}
		}
	}
}

// traced starts the tracing span of an operation. It truncates the operation name, which the client
// chooses.
func traced(ctx context.Context, operation *ast.OperationDefinition) (context.Context, tracing.Span) {
	if !tracing.On(ctx) {
		return ctx, tracing.Span{}
	}
	ctx, span := tracing.Start(ctx, "GraphQL "+string(operation.Operation))
	span.Text("graphql.operation.name", operation.Name[:min(len(operation.Name), maxOperationName)])
	span.Text("graphql.operation.type", string(operation.Operation))
	return ctx, span
}

// maxOperationName is the maximum length in bytes of an operation name in a span.
const maxOperationName = 100

// with returns a context with new loaders for one run of an operation.
func (e loaderExtension) with(ctx context.Context) context.Context {
	registry := batch.NewRegistry()
	ctx = batch.WithRegistry(models.WithReadLimits(ctx), registry)
	categories := func() (*models.CategoryTree, error) {
		tree, err := e.shared.store.Categories(ctx)
		if err == nil {
			batch.Add(registry, tree.All)
		}
		return tree, err
	}
	if operation := graphql.GetOperationContext(ctx).Operation; operation.Operation == ast.Query {
		categories = sync.OnceValues(categories)
		needs, ok := e.shared.needs.Load(operation)
		if !ok {
			needs = needsOf(operation)
			e.shared.needs.Store(operation, needs)
		}
		ctx = models.WithExtras(models.WithLongTexts(ctx, needs.texts), needs.extras, caller(ctx).UserID)
	}
	return context.WithValue(ctx, loadersKey{}, &loaders{
		sharedLoaders: e.shared,
		root:          new(root),
		categories:    categories,
	})
}
