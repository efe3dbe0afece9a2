package breadthfirst

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Executable is an executable schema that runs queries and mutations breadth first, and leaves
// subscriptions to the one that gqlgen generates. It runs no interceptors of fields.
type Executable[E any] struct {
	graphql.ExecutableSchema

	schema  Schema[E]
	context func(*graphql.OperationContext) E
	limit   Limit
	plans   sync.Map // of a weak.Pointer[ast.OperationDefinition]: its *selection[E]
}

// Limit bounds the data of an answer.
type Limit struct {
	Bytes int
	Error error // what is answered instead
}

// New returns an executable schema. generated runs subscriptions, context makes the generated
// execution context of an operation. It panics if the table does not fit the schema: then one was
// generated without the other.
func New[E any](generated graphql.ExecutableSchema, schema Schema[E], context func(*graphql.OperationContext) E, limit Limit) *Executable[E] {
	if missing := schema.missing(generated.Schema()); len(missing) > 0 {
		panic(fmt.Sprintf("breadthfirst: the generated table lacks %s: run make generate", strings.Join(missing, ", ")))
	}
	return &Executable[E]{ExecutableSchema: generated, schema: schema, context: context, limit: limit}
}

// Exec begins an operation.
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

// run is an operation under way.
type run[E any] struct {
	*Executable[E]
	operation *graphql.OperationContext
	ec        E
	ctx       context.Context
	kept      atomic.Int64 // bytes of scalars that were resolved and wait to be written
}

func (x *Executable[E]) run(ctx context.Context, oc *graphql.OperationContext) (response *graphql.Response) {
	r := &run[E]{Executable: x, operation: oc, ec: x.context(oc), ctx: ctx}
	defer func() {
		if cause := recover(); cause != nil {
			oc.Error(ctx, oc.Recover(ctx, cause))
			response = &graphql.Response{Data: []byte("null")}
		}
	}()
	plan := x.plan(oc)
	root := &group[E]{plan: plan, objects: []any{nil}}
	r.group(root)
	w := &writer[E]{run: r, b: make([]byte, 0, max(512, int(plan.size.Load())*9/8))}
	if !r.over() && !w.object(root, 0) {
		w.b = append(w.b[:0], "null"...)
	}
	if w.full || r.over() {
		ctx = graphql.WithFreshResponseContext(ctx) // first of all errors
		graphql.AddError(ctx, x.limit.Error)
		return &graphql.Response{Data: []byte("null"), Errors: graphql.GetErrors(ctx)}
	}
	plan.size.Store(int64(len(w.b)))
	return &graphql.Response{Data: w.b}
}

// over reports whether more is kept than may be answered.
func (r *run[E]) over() bool { return r.limit.Bytes > 0 && r.kept.Load() > int64(r.limit.Bytes) }
