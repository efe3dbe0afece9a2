package graph

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/telemetry/tracing"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
)

// operation is the state of one run of an operation.
type operation struct {
	// categories reads the category tree. It caches the tree for a query. A mutation changes the
	// counts of categories, and a subscription reads them again later.
	categories func() (*models.CategoryTree, error)
	stale      atomic.Bool // set if the reads of the operation are inconsistent
}

type operationKey struct{}

func operationOf(ctx context.Context) *operation { return ctx.Value(operationKey{}).(*operation) }

// errStale is the error for an object that was deleted or taken down between the reads of one
// operation.
var errStale = &models.Error{Code: models.Conflict,
	Message: "the data changed while it was read: send the request again"}

// stale marks the reads of the operation as inconsistent, so that a query is run again. It returns
// errStale.
func stale(ctx context.Context) error {
	operationOf(ctx).stale.Store(true)
	return errStale
}

// operationExtension creates the state of each operation. It runs a query up to six times if
// objects were deleted or taken down while it read them.
type operationExtension struct{ store *catalogue.Catalogue }

// ExtensionName implements graphql.HandlerExtension.
func (operationExtension) ExtensionName() string { return "Operation" }

// Validate implements graphql.HandlerExtension.
func (operationExtension) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptOperation implements graphql.OperationInterceptor.
func (e operationExtension) InterceptOperation(ctx context.Context,
	next graphql.OperationHandler) graphql.ResponseHandler {
	const maxRuns = 6
	operation := graphql.GetOperationContext(ctx).Operation
	switch operation.Operation {
	case ast.Subscription:
		return next(e.with(database.OnPrimary(tracing.Off(ctx)))) // it reads repeatedly until it ends
	case ast.Mutation:
		ctx, span := traced(database.OnPrimary(ctx), operation)
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
			opCtx, end := database.WithSlots(e.with(e.route(ctx, run)))
			response := next(opCtx)(opCtx)
			end()
			if run == maxRuns || !operationOf(opCtx).stale.Load() {
				return response
			}
		}
	}
}

// route chooses the database for a run of a query. A query that is run again reads from the
// primary.
func (e operationExtension) route(ctx context.Context, run int) context.Context {
	if run > 1 {
		return e.store.DB.OrReplica(ctx)
	}
	return e.store.DB.ForQuery(ctx)
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

// with returns a context with new state for one run of an operation.
func (e operationExtension) with(ctx context.Context) context.Context {
	ctx = auth.WithOpened(models.WithReadLimits(ctx))
	categories := func() (*models.CategoryTree, error) { return e.store.Categories(ctx) }
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Query {
		categories = sync.OnceValues(categories)
	}
	return context.WithValue(ctx, operationKey{}, &operation{categories: categories})
}
