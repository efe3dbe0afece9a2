package breadthfirst

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/internal/apierror"
)

// errOneStream is the error of two aliases of one root field, or of a field that @skip excludes.
// Validation permits both.
var errOneStream = &apierror.Error{Code: apierror.ValidationFailed,
	Message: "a subscription must select exactly one root field"}

// subscribe calls the resolver of a subscription. It returns a handler that returns a response for
// each event that the resolver sends, and nil at the end. If the resolver fails, it adds the error
// to ctx and returns nil.
func (x *Executable[E]) subscribe(ctx context.Context, oc *graphql.OperationContext) graphql.ResponseHandler {
	r := x.newRun(ctx, oc)
	root := newRoot(x.plan(oc))
	r.open(root)
	if len(root.plan.fields) != 1 {
		oc.Error(root.ctx, errOneStream)
		return nil
	}
	f := &root.plan.fields[0]
	channels, _, args := r.values(task[E]{{root, 0}})
	if channels[0] == nil {
		if len(graphql.GetErrors(ctx)) == 0 {
			oc.Error(root.fieldPlace(r.ctx, 0, f, args), errNull)
		}
		return nil
	}
	return func(ctx context.Context) *graphql.Response {
		event, ok := f.Receive(ctx, channels[0])
		if !ok {
			return nil
		}
		return x.run(ctx, oc, func(r *run[E]) *group[E] { return r.event(root.plan, args, event) })
	}
}

// event returns the root object of a subscription whose root field has the value event. It resolves
// everything below it.
func (r *run[E]) event(plan *plan[E], args map[string]any, event any) *group[E] {
	root := newRoot(plan)
	r.open(root)
	at := root.fieldPlace(r.ctx, 0, &plan.fields[0], args)
	r.resolve(r.keep(place[E]{root, 0}, at, args, []any{event})...)
	return root
}

// Receive returns the next value of a channel. It returns false when the channel is closed or ctx
// ends.
func Receive[T any](ctx context.Context, channel any) (any, bool) {
	select {
	case value, ok := <-channel.(<-chan T):
		return value, ok
	case <-ctx.Done():
		return nil, false
	}
}
