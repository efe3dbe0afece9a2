package breadthfirst_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/graphql/breadthfirst"
)

var eventSDL = gqlparser.MustLoadSchema(&ast.Source{Input: `
	type Query { node: Node }
	type Subscription { nodes: Node! maybe: Node numbers: Int! broken: Node! panics: Node! guarded(id: Int): Node! }
	type Node { id: Int! must: Int! children: [Node!]! panics: Int }
`})

// eventsSchema returns a schema whose subscriptions send events.
func eventsSchema(events []*node) graphql.ExecutableSchema {
	stream := func(context.Context, *execution, *graphql.FieldContext, any) (any, error) {
		channel := make(chan *node, len(events))
		for _, e := range events {
			channel <- e
		}
		close(channel)
		return (<-chan *node)(channel), nil
	}
	nodes := func(resolve func(context.Context, *execution, *graphql.FieldContext, any) (any, error)) *field {
		return &field{Waits: true, Resolve: resolve, Receive: breadthfirst.Receive[*node], Nil: breadthfirst.NilPointer[node]}
	}
	guarded := nodes(stream)
	guarded.Args = func(_ *execution, _ context.Context, raw map[string]any) (map[string]any, error) { return raw, nil }
	guarded.Directives = func(ctx context.Context, _ *execution, _ any, next graphql.Resolver) (any, error) {
		if graphql.GetFieldContext(ctx).Args["id"] != int64(1) {
			return nil, errors.New("not permitted")
		}
		return next(ctx)
	}
	must := &field{Append: func(b []byte, v any) []byte { return appendInt(b, *v.(*int)) },
		Nil: breadthfirst.NilPointer[int],
		Get: func(o any) any { return o.(*node).must }}
	return breadthfirst.New(eventSDL, breadthfirst.Schema[*execution]{Types: map[string]*kind{
		"Query": {Name: "Query", Implements: []string{"Query"}, Fields: map[string]*field{
			"node": {Get: func(any) any { return nil }},
		}},
		"Subscription": {Name: "Subscription", Implements: []string{"Subscription"}, Fields: map[string]*field{
			"nodes": nodes(stream), "maybe": nodes(stream), "guarded": guarded,
			"numbers": {Append: appendInt, Receive: breadthfirst.Receive[int], Resolve: func(context.Context, *execution,
				*graphql.FieldContext, any) (any, error) {
				channel := make(chan int, 2)
				channel <- 1
				channel <- 2
				close(channel)
				return (<-chan int)(channel), nil
			}},
			"broken": nodes(func(context.Context, *execution, *graphql.FieldContext, any) (any, error) {
				return breadthfirst.Value[<-chan *node](nil, errors.New("broken"))
			}),
			"panics": nodes(func(context.Context, *execution, *graphql.FieldContext, any) (any, error) { panic("no") }),
		}},
		"Node": {Name: "Node", Implements: []string{"Node"}, Fields: map[string]*field{
			"id":       {Scalar: func(b []byte, o any) ([]byte, bool) { return appendInt(b, o.(*node).id), true }},
			"must":     must,
			"children": {Each: breadthfirst.EachPointer[node], Get: func(o any) any { return o.(*node).children }},
			"panics": {Append: appendInt, Waits: true, Resolve: func(context.Context, *execution, *graphql.FieldContext,
				any) (any, error) {
				panic("no")
			}},
		}},
	}}, func(*graphql.OperationContext) *execution { return nil },
		breadthfirst.Limit{Bytes: 2_000, Error: errors.New("too large")})
}

// subscribe runs a subscription and returns the data of all responses, and the errors with their
// paths.
func subscribe(t *testing.T, ctx context.Context, schema graphql.ExecutableSchema,
	text string) (data, failures []string) {
	t.Helper()
	exec := executor.New(schema)
	ctx = graphql.StartOperationTrace(ctx)
	oc, errs := exec.CreateOperationContext(ctx, &graphql.RawParams{Query: text})
	if errs != nil {
		t.Fatalf("%s: %v", text, errs)
	}
	next, ctx := exec.DispatchOperation(ctx, oc)
	for response := next(ctx); response != nil; response = next(ctx) {
		data = append(data, string(response.Data))
		for _, e := range response.Errors {
			failures = append(failures, e.Path.String()+" "+e.Message)
		}
	}
	return data, failures
}

// TestSubscribe checks the responses of subscriptions whose resolver sends two events.
func TestSubscribe(t *testing.T) {
	seven := 7
	first, second := &node{id: 1, must: &seven, children: []*node{{id: 3, must: &seven}}},
		&node{id: 2, children: []*node{{id: 4}}}
	for text, want := range map[string]struct{ data, failures []string }{
		`{nodes{id}}`:             {data: []string{`{"nodes":{"id":1}}`, `{"nodes":{"id":2}}`}},
		`{a:nodes{children{id}}}`: {data: []string{`{"a":{"children":[{"id":3}]}}`, `{"a":{"children":[{"id":4}]}}`}},
		`{numbers}`:               {data: []string{`{"numbers":1}`, `{"numbers":2}`}},
		`{maybe{must}}`: {[]string{`{"maybe":{"must":7}}`, `{"maybe":null}`},
			[]string{"maybe.must must not be null"}},
		`{nodes{must}}`: {[]string{`{"nodes":{"must":7}}`, `null`}, []string{"nodes.must must not be null"}},
		`{nodes{children{must}}}`: {[]string{`{"nodes":{"children":[{"must":7}]}}`, `null`},
			[]string{"nodes.children[0].must must not be null"}},
		`{nodes{id panics}}`: {[]string{`{"nodes":{"id":1,"panics":null}}`, `{"nodes":{"id":2,"panics":null}}`},
			[]string{"nodes.panics internal system error", "nodes.panics internal system error"}},
		`{broken{id}}`:               {[]string{""}, []string{"broken broken"}},
		`{panics{id}}`:               {[]string{""}, []string{"panics internal system error"}},
		`{guarded(id:1){id}}`:        {data: []string{`{"guarded":{"id":1}}`, `{"guarded":{"id":2}}`}},
		`{guarded(id:2){id}}`:        {[]string{""}, []string{"guarded not permitted"}},
		`{a:nodes{id} b:nodes{id}}`:  {[]string{""}, []string{" a subscription must select exactly one root field"}},
		`{nodes @skip(if:true){id}}`: {[]string{""}, []string{" a subscription must select exactly one root field"}},
		`{nodes{` + repeated(100, "a%d:children{aaaaaaaaaaaaaaa:id} ") + `}}`: {[]string{"null", "null"},
			[]string{" too large", " too large"}},
	} {
		data, failures := subscribe(t, t.Context(), eventsSchema([]*node{first, second}), "subscription "+text)
		if !slices.Equal(data, want.data) || !slices.Equal(failures, want.failures) {
			t.Errorf("%.60s\n got %.200q %q\nwant %q %q", text, data, failures, want.data, want.failures)
		}
	}
}

// TestNullEvent checks the responses to an event that is null.
func TestNullEvent(t *testing.T) {
	for text, want := range map[string]struct{ data, failure string }{
		`{maybe{id}}`: {`{"maybe":null}`, ""},
		`{nodes{id}}`: {`null`, "nodes must not be null"},
	} {
		data, failures := subscribe(t, t.Context(), eventsSchema([]*node{nil}), "subscription "+text)
		if len(data) != 1 || data[0] != want.data || len(failures) > 1 || len(failures) == 1 && failures[0] != want.failure ||
			len(failures) == 0 && want.failure != "" {
			t.Errorf("%s: got %q %q, want %q", text, data, failures, want)
		}
	}
}

// TestCanceledSubscription checks that a subscription ends when its context ends, although its
// resolver sends nothing and leaves the channel open.
func TestCanceledSubscription(t *testing.T) {
	channel := make(chan *node)
	ctx, cancel := context.WithCancel(t.Context())
	received := make(chan bool)
	go func() {
		_, ok := breadthfirst.Receive[*node](ctx, (<-chan *node)(channel))
		received <- ok
	}()
	cancel()
	if <-received {
		t.Error("there is an event")
	}
}
