package breadthfirst

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/peroperation"
)

// Executable is an executable schema that executes queries and mutations breadth first, and
// delegates subscriptions to the one that gqlgen generates. It does not call field interceptors.
type Executable[E any] struct {
	graphql.ExecutableSchema

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

// New returns an executable schema. generated executes subscriptions; context creates the generated
// execution context of an operation. New panics if schema does not match the
// GraphQL schema of generated, which means that only one of them was regenerated.
func New[E any](generated graphql.ExecutableSchema, schema Schema[E], context func(*graphql.OperationContext) E, limit Limit) *Executable[E] {
	if missing := schema.missing(generated.Schema()); len(missing) > 0 {
		panic(fmt.Sprintf("breadthfirst: the generated table lacks %s: run make generate", strings.Join(missing, ", ")))
	}
	return &Executable[E]{ExecutableSchema: generated, schema: schema, context: context, limit: limit}
}

// Exec starts an operation.
func (x *Executable[E]) Exec(ctx context.Context) graphql.ResponseHandler {
	oc := graphql.GetOperationContext(ctx)
	if oc.Operation.Operation == ast.Subscription {
		return x.ExecutableSchema.Exec(ctx)
	}
	ran := false
	return func(ctx context.Context) *graphql.Response {
		if ran {
			return nil
		}
		ran = true
		return x.run(ctx, oc)
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

func (x *Executable[E]) run(ctx context.Context, oc *graphql.OperationContext) (response *graphql.Response) {
	r := &run[E]{Executable: x, operation: oc, ec: x.context(oc), ctx: ctx}
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
	plan := x.plan(oc)
	root := &group[E]{plan: plan, objects: []any{nil}}
	if oc.Operation.Operation == ast.Mutation {
		r.serially(root)
	} else {
		r.resolve(root)
	}
	// A resolver ended a query. The results of mutations must not be lost.
	if cause := context.Cause(ctx); oc.Operation.Operation == ast.Query && ctx.Err() == context.Canceled && cause != context.Canceled {
		return alone(cause)
	}
	if r.over() {
		return alone(x.limit.Error)
	}
	data, ok := r.write(root, max(int(plan.size.Load()), int(r.kept.Load()))*9/8)
	if !ok {
		return alone(x.limit.Error)
	}
	plan.size.Store(int64(len(data)))
	return &graphql.Response{Data: data}
}

// over reports whether the resolved scalars exceed the limit.
func (r *run[E]) over() bool { return r.limit.Bytes > 0 && r.kept.Load() > int64(r.limit.Bytes) }
