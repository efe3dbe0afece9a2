package breadthfirst_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/meshyard/meshyard/internal/graphql/breadthfirst"
)

var sdl = gqlparser.MustLoadSchema(&ast.Source{Input: `
	type Query { nodes: [Node!] one: Node! nobody: Node }
	type Mutation { first: Int second: Int third: Int }
	type Node { id: Int! maybe: Int must: Int! panics: Int children: [Node!]! holes: [Node] other: Either either: [Either!]! text: String! }
	type Leaf { id: Int! }
	union Either = Node | Leaf
`})

type node struct {
	id       int
	must     *int
	children []*node
	either   []any
}

type leaf struct{ id int }

type execution struct{}

type (
	field = breadthfirst.Field[*execution]
	kind  = breadthfirst.Type[*execution]
)

func appendInt(b []byte, v any) []byte { return fmt.Append(b, v) }

// world returns a schema that counts the batches in calls.
func world(roots []*node, calls *atomic.Int64, order *[]string) graphql.ExecutableSchema {
	step := func(name string) *field {
		return &field{Waits: true, Append: appendInt, Resolve: func(context.Context, *execution, *graphql.FieldContext,
			any) (any, error) {
			*order = append(*order, name)
			return len(*order), nil
		}}
	}
	schema := breadthfirst.Schema[*execution]{
		Types: map[string]*kind{
			"Query": {Name: "Query", Implements: []string{"Query"}, Fields: map[string]*field{
				"nodes": {Each: breadthfirst.EachPointer[node], Waits: true, Resolve: func(context.Context, *execution,
					*graphql.FieldContext, any) (any, error) {
					return roots, nil
				}},
				"one": {Nil: breadthfirst.NilPointer[node], Waits: true, Resolve: func(context.Context, *execution,
					*graphql.FieldContext, any) (any, error) {
					return roots[0], nil
				}},
				"nobody": {Nil: breadthfirst.NilPointer[node], Resolve: func(context.Context, *execution, *graphql.FieldContext,
					any) (any, error) {
					return breadthfirst.Value[*node](nil, errors.New("nobody is there"))
				}},
			}},
			"Mutation": {Name: "Mutation", Implements: []string{"Mutation"}, Fields: map[string]*field{
				"first": step("first"), "second": step("second"), "third": step("third"),
			}},
			"Node": {Name: "Node", Implements: []string{"Node", "Either"}, Fields: map[string]*field{
				"id":    {Scalar: func(b []byte, o any) ([]byte, bool) { return appendInt(b, o.(*node).id), true }},
				"maybe": {Scalar: func(b []byte, o any) ([]byte, bool) { return b, false }},
				"must": {Append: func(b []byte, v any) []byte { return appendInt(b, *v.(*int)) }, Nil: breadthfirst.NilPointer[int],
					Get: func(o any) any { return o.(*node).must }},
				"panics": {Append: appendInt, Waits: true, Batch: func(context.Context, *execution, *graphql.FieldContext,
					[]any) ([]any, error) {
					panic("no")
				}},
				"children": {Each: breadthfirst.EachPointer[node], Waits: true, Batch: func(_ context.Context, _ *execution,
					_ *graphql.FieldContext, objects []any) ([]any, error) {
					calls.Add(1)
					var all [][]*node
					for _, n := range breadthfirst.Objects[*node](objects) {
						all = append(all, n.children)
					}
					return breadthfirst.Values(all, nil)
				}},
				"holes":  {Each: breadthfirst.EachPointer[node], Get: func(o any) any { return []*node{nil, o.(*node), nil} }},
				"either": {Each: breadthfirst.EachInterface[any], Get: func(o any) any { return o.(*node).either }},
				"other":  {Get: func(o any) any { return &leaf{o.(*node).id * 10} }},
				"text": {Scalar: func(b []byte, o any) ([]byte, bool) {
					return breadthfirst.AppendString(b, strings.Repeat("x", 100)), true
				}},
			}},
			"Leaf": {Name: "Leaf", Implements: []string{"Leaf", "Either"}, Fields: map[string]*field{
				"id": {Scalar: func(b []byte, o any) ([]byte, bool) { return appendInt(b, o.(*leaf).id), true }},
			}},
		},
		Abstract: map[string]func(any) (string, any){"Either": func(v any) (string, any) {
			if _, ok := v.(*leaf); ok {
				return "Leaf", v
			}
			return "Node", v
		}},
	}
	return breadthfirst.New(sdl, schema, func(*graphql.OperationContext) *execution { return nil },
		breadthfirst.Limit{Bytes: 2_000, Error: errors.New("too large")})
}

// run executes a document and returns its data, and its errors with their paths.
func run(t *testing.T, schema graphql.ExecutableSchema, text string,
	variables map[string]any) (data string, failures []string) {
	t.Helper()
	exec := executor.New(schema)
	ctx := graphql.StartOperationTrace(t.Context())
	oc, errs := exec.CreateOperationContext(ctx, &graphql.RawParams{Query: text, Variables: variables})
	if errs != nil {
		t.Fatalf("%s: %v", text, errs)
	}
	next, ctx := exec.DispatchOperation(ctx, oc)
	response := next(ctx)
	for _, e := range response.Errors {
		failures = append(failures, e.Path.String()+" "+e.Message)
	}
	if next(ctx) != nil {
		t.Errorf("%s: there is a second response", text)
	}
	return string(response.Data), failures
}

func TestExecute(t *testing.T) {
	seven := 7
	good := func(id int, children ...*node) *node { return &node{id: id, must: &seven, children: children} }
	bad := &node{id: 9}
	roots := []*node{good(1, good(3), good(4)), good(2, good(5))}
	mixed := []*node{{id: 1, must: &seven, either: []any{&leaf{7}, good(8), &leaf{9}}}}
	for _, c := range []struct {
		text  string
		roots []*node
		want  string
		errs  []string
	}{
		{`{nodes{id children{id}}}`, roots,
			`{"nodes":[{"id":1,"children":[{"id":3},{"id":4}]},{"id":2,"children":[{"id":5}]}]}`, nil},
		{`{one{id ...{t:__typename} maybe}}`, roots, `{"one":{"id":1,"t":"Node","maybe":null}}`, nil},
		{`{nodes{id @skip(if:true) a:id ...F}} fragment F on Node{a:id must}`, roots,
			`{"nodes":[{"a":1,"must":7},{"a":2,"must":7}]}`, nil},
		{`{nodes{holes{id}}}`, roots[:1], `{"nodes":[{"holes":[null,{"id":1},null]}]}`, nil},
		{`{one{either{__typename ...on Leaf{id} ...on Node{n:id}} other{...on Leaf{id}}}}`, mixed,
			`{"one":{"either":[{"__typename":"Leaf","id":7},{"__typename":"Node","n":8},{"__typename":"Leaf","id":9}],"other":{"id":10}}}`, nil},
		// A null in a non-null position makes its parent object null, then the list of that, up to
		// the first nullable position.
		{`{nodes{id children{id must}}}`, []*node{good(1, good(3), bad)}, `{"nodes":null}`,
			[]string{"nodes[0].children[1].must must not be null"}},
		{`{one{children{must}}}`, []*node{good(1, good(3), bad)}, `null`, []string{"one.children[1].must must not be null"}},
		{`{nodes{holes{must}}}`, []*node{bad}, `{"nodes":[{"holes":[null,null,null]}]}`,
			[]string{"nodes[0].holes[1].must must not be null"}},
		{`{nodes{id}}`, []*node{good(1), nil}, `{"nodes":null}`, []string{"nodes[1] must not be null"}},
		{`{nodes{id}}`, nil, `{"nodes":[]}`, nil},
		{`{nobody{id} nodes{id}}`, roots[:1], `{"nobody":null,"nodes":[{"id":1}]}`, []string{"nobody nobody is there"}},
		{`{nodes{panics id}}`, roots, `{"nodes":[{"panics":null,"id":1},{"panics":null,"id":2}]}`,
			[]string{"nodes[0].panics internal system error", "nodes[1].panics internal system error"}},
		{`mutation{third first second}`, roots, `{"third":1,"first":2,"second":3}`, nil},
	} {
		var calls atomic.Int64
		data, errs := run(t, world(c.roots, &calls, new([]string)), c.text, nil)
		if data != c.want || !slices.Equal(errs, c.errs) {
			t.Errorf("%s\n got %s %q\nwant %s %q", c.text, data, errs, c.want, c.errs)
		}
		before := breadthfirst.SetLong(1)
		long, longErrs := run(t, world(c.roots, new(atomic.Int64), new([]string)), c.text, nil)
		if breadthfirst.SetLong(before); long != data || !slices.Equal(longErrs, errs) {
			t.Errorf("%s: as a long answer\n got %s %q\nwant %s %q", c.text, long, longErrs, data, errs)
		}
		if strings.Contains(c.text, "children") && calls.Load() != 1 {
			t.Errorf("%s: the children were resolved %d times", c.text, calls.Load())
		}
	}
}

// TestOneBatchForALevel checks that a field is resolved once for all objects of a level, across
// their lists.
func TestOneBatchForALevel(t *testing.T) {
	deep := &node{id: 1, children: []*node{{children: []*node{{}, {}}}, {children: []*node{{}}}}}
	var calls atomic.Int64
	run(t, world([]*node{deep, deep}, &calls, new([]string)), `{nodes{children{children{children{id}}}}}`, nil)
	if calls.Load() != 3 {
		t.Errorf("the children of three levels were resolved %d times", calls.Load())
	}
}

// TestMerge checks that a field is resolved once for objects at several places if the same is
// selected on them, however deep.
func TestMerge(t *testing.T) {
	roots := []*node{{id: 1, children: []*node{{id: 2, children: []*node{{id: 4}}}}}, {id: 3}}
	for text, want := range map[string]int64{
		`{a:nodes{children{children{id}}} b:nodes{id c:children{children{x:id}}} one{children{id}}}`: 3,
		`{a:nodes{children{id}} b:nodes{children{children{id}}}}`:                                    3,
	} {
		var calls atomic.Int64
		data, errs := run(t, world(roots, &calls, new([]string)), text, nil)
		if calls.Load() != want || len(errs) > 0 {
			t.Errorf("%s: the children were resolved %d times, want %d (%s %q)", text, calls.Load(), want, data, errs)
		}
	}
}

// TestLimit checks that a response that grows beyond the limit is replaced by an error.
func TestLimit(t *testing.T) {
	var calls atomic.Int64
	for _, text := range []string{"{nodes{" + repeated(30, "a%d:text ") + "}}", "{nodes{" +
		repeated(30, "a%d:children{text} ") + "}}"} {
		data, errs := run(t, world([]*node{{children: []*node{{}}}}, &calls, new([]string)), text, nil)
		if data != "null" || len(errs) != 1 || !strings.Contains(errs[0], "too large") {
			t.Errorf("%.40s: got %.100s %q", text, data, errs)
		}
	}
}

func repeated(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestPlanAndVariables checks that one plan serves all requests, unless it depends on their
// variables.
func TestPlanAndVariables(t *testing.T) {
	document := gqlparser.MustLoadQueryWithRules(sdl, `query($a: Boolean!) {one{id must @include(if: $a)}}`,
		rules.NewDefaultRules())
	seven := 7
	var calls atomic.Int64
	schema := world([]*node{{id: 1, must: &seven}}, &calls, new([]string))
	exec := executor.New(schema)
	exec.SetQueryCache(held{document})
	for _, with := range []bool{true, false, true} {
		ctx := graphql.StartOperationTrace(t.Context())
		oc, _ := exec.CreateOperationContext(ctx, &graphql.RawParams{Variables: map[string]any{"a": with}})
		next, ctx := exec.DispatchOperation(ctx, oc)
		if got := string(next(ctx).Data); strings.Contains(got, "must") != with {
			t.Errorf("with %t: %s", with, got)
		}
	}
}

type held struct{ *ast.QueryDocument }

func (h held) Get(context.Context, string) (*ast.QueryDocument, bool) { return h.QueryDocument, true }
func (held) Add(context.Context, string, *ast.QueryDocument)          {}

// FuzzAppendString checks that AppendString writes what gqlgen writes.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\n\r\t\x00\x1f\x7f", "ä€𝄞", "\xff\xfe", "<script>&\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		graphql.MarshalString(s).MarshalGQL(&want)
		if got := breadthfirst.AppendString(nil, s); string(got) != want.String() {
			t.Errorf("%q: got %s, want %s", s, got, want.String())
		}
	})
}

// TestTableFitsSchema checks that New rejects a table that was generated from another schema.
func TestTableFitsSchema(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "lacks Either, Leaf.id, Mutation.first") {
			t.Errorf("got the panic %q", got)
		}
	}()
	breadthfirst.New(sdl, breadthfirst.Schema[*execution]{}, nil, breadthfirst.Limit{})
}
