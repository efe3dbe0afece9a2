package breadthfirst

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/graphql/peroperation"
)

// Executable is an executable schema that executes operations breadth first. It does not call field
// interceptors, and it does not calculate the complexity of operations.
type Executable[E any] struct {
	source  *ast.Schema
	schema  Schema[E]
	context func(*graphql.OperationContext) E
	limit   Limit
	plans   peroperation.Cache[*plan[E]]
}

// Limit limits the data of a response.
type Limit struct {
	Bytes int
	Error error // the error that replaces a larger response
}

// New returns an executable schema for a GraphQL schema. context creates the generated execution
// context of an operation. New panics if the table does not match the GraphQL
// schema, which means that the table was not regenerated.
func New[E any](source *ast.Schema, table Schema[E], context func(*graphql.OperationContext) E,
	limit Limit) *Executable[E] {
	if missing := table.missing(source); len(missing) > 0 {
		panic(fmt.Sprintf("breadthfirst: the generated table lacks %s: run make generate", strings.Join(missing, ", ")))
	}
	return &Executable[E]{source: source, schema: table, context: context, limit: limit}
}

// Schema returns the GraphQL schema.
func (x *Executable[E]) Schema() *ast.Schema { return x.source }

// Complexity implements graphql.ExecutableSchema. No field has a complexity.
func (x *Executable[E]) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

// Exec starts an operation.
func (x *Executable[E]) Exec(ctx context.Context) graphql.ResponseHandler {
	oc := graphql.GetOperationContext(ctx)
	if oc.Operation.Operation == ast.Subscription {
		return x.subscribe(ctx, oc)
	}
	ran := false
	return func(ctx context.Context) *graphql.Response {
		if ran {
			return nil
		}
		ran = true
		return x.run(ctx, oc, func(r *run[E]) *group[E] {
			root := newRoot(x.plan(oc))
			if oc.Operation.Operation == ast.Mutation {
				r.serially(root)
			} else {
				r.resolve(root)
			}
			return root
		})
	}
}

// run is the state of one operation.
type run[E any] struct {
	*Executable[E]
	operation *graphql.OperationContext
	ec        E
	ctx       context.Context
	kept      atomic.Int64 // bytes of scalars that are resolved but not written yet
}

func (x *Executable[E]) newRun(ctx context.Context, oc *graphql.OperationContext) *run[E] {
	return &run[E]{Executable: x, operation: oc, ec: x.context(oc), ctx: ctx}
}

// run returns the response whose root object resolve returns.
func (x *Executable[E]) run(ctx context.Context, oc *graphql.OperationContext,
	resolve func(*run[E]) *group[E]) (response *graphql.Response) {
	r := x.newRun(ctx, oc)
	defer func() {
		if cause := recover(); cause != nil {
			oc.Error(ctx, oc.Recover(ctx, cause))
			response = &graphql.Response{Data: []byte("null")}
		}
	}()
	alone := func(err error) *graphql.Response { // instead of the errors of fields
		ctx := graphql.WithFreshResponseContext(ctx)
		graphql.AddError(ctx, err)
		return &graphql.Response{Data: []byte("null"), Errors: graphql.GetErrors(ctx)}
	}
	root := resolve(r)
	// A resolver ended a query. The results of mutations must not be lost.
	if cause := context.Cause(ctx); oc.Operation.Operation == ast.Query && ctx.Err() == context.Canceled &&
		cause != context.Canceled {
		return alone(cause)
	}
	if r.over() {
		return alone(x.limit.Error)
	}
	data, ok := r.write(root, max(int(root.plan.size.Load()), int(r.kept.Load()))*9/8)
	if !ok {
		return alone(x.limit.Error)
	}
	root.plan.size.Store(int64(len(data)))
	return &graphql.Response{Data: data}
}

// newRoot returns the group of the root object of an operation.
func newRoot[E any](plan *plan[E]) *group[E] { return &group[E]{plan: plan, objects: []any{nil}} }

// over reports whether the resolved scalars exceed the limit.
func (r *run[E]) over() bool { return r.limit.Bytes > 0 && r.kept.Load() > int64(r.limit.Bytes) }
