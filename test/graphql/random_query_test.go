package graphql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/test/servertest"
)

// callersOf returns contexts of a visitor, of two users and of a token with the scope admin.
func callersOf(t *testing.T, s *servertest.Server, ada, bob *servertest.Client) []context.Context {
	t.Helper()
	callers := []context.Context{auth.WithCaller(t.Context(), auth.Caller{}, nil)}
	for _, token := range []string{ada.Token, bob.Token, s.Client(s.Token("staff", auth.Read, auth.Write, auth.Admin)).
		Token} {
		caller, err := s.Store.Account.Authenticate(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		callers = append(callers, auth.WithCaller(t.Context(), caller, nil))
	}
	return callers
}

// runQuery returns the data and the sorted errors of a query.
func runQuery(ctx context.Context, g *graph.Graph, document *ast.QueryDocument,
	variables map[string]any) (string, []string) {
	return textOf(respond(ctx, g, document, variables))
}

// respond returns the response to an operation, or the first one to a subscription.
func respond(ctx context.Context, g *graph.Graph, document *ast.QueryDocument,
	variables map[string]any) *graphql.Response {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	exec := g.Executor(graphqlhttp.SingleDocument{Document: document})
	ctx = graphql.StartOperationTrace(ctx)
	oc, errs := exec.CreateOperationContext(ctx, &graphql.RawParams{Variables: variables})
	if errs != nil {
		return &graphql.Response{Errors: errs}
	}
	oc.DisableIntrospection = false
	next, ctx := exec.DispatchOperation(ctx, oc)
	return next(ctx)
}

// textOf returns the data and the sorted errors of a response.
func textOf(response *graphql.Response) (data string, errors []string) {
	for _, e := range response.Errors {
		text, _ := json.Marshal(e)
		errors = append(errors, string(text))
	}
	slices.Sort(errors)
	return string(response.Data), errors
}

// randomQuery generates a valid query for a schema.
type randomQuery struct {
	*rand.Rand
	schema *ast.Schema
	ids    []string

	left      int // number of fields that may still be generated
	aliases   int
	declared  []string // variables
	variables map[string]any
	fragments []string
}

// unstable are fields whose values depend on the time of the call or on chance.
var unstable = []string{"Popularity.score", "PopularityDay.points", "File.directUrl", "DeprecatedCall.calledAt",
	"Query.randomThings"}

func (q *randomQuery) operation() string {
	q.left = 4 + q.IntN(40)
	return q.document("query", q.selection(q.schema.Query, 0))
}

// document returns a document of an operation with the generated variables and fragments.
func (q *randomQuery) document(head, body string) string {
	if len(q.declared) > 0 {
		head += "(" + strings.Join(q.declared, ", ") + ")"
	}
	return head + " " + body + " " + strings.Join(q.fragments, " ")
}

// selection generates a selection set of a type.
func (q *randomQuery) selection(of *ast.Definition, depth int) string {
	var b strings.Builder
	b.WriteString("{")
	fields := q.candidates(of, depth)
	for n := 1 + q.IntN(5); n > 0 && q.left > 0 && len(fields) > 0; n-- {
		switch q.IntN(12) {
		case 0:
			b.WriteString(" ..." + q.directive() + q.selection(of, depth+1))
		case 1:
			name := "F" + strconv.Itoa(len(q.fragments))
			q.fragments = append(q.fragments, "")
			at := len(q.fragments) - 1
			q.fragments[at] = "fragment " + name + " on " + of.Name + q.selection(of, depth+1)
			b.WriteString(" ..." + name + q.directive())
		case 2:
			b.WriteString(" " + q.alias() + "__typename")
		default:
			b.WriteString(" " + q.field(fields[q.IntN(len(fields))], depth))
		}
	}
	for _, possible := range q.schema.PossibleTypes[of.Name] {
		if of.IsAbstractType() && q.IntN(2) == 0 {
			b.WriteString(" ... on " + possible.Name + q.directive() + q.selection(possible, depth+1))
		}
	}
	b.WriteString(" " + q.alias() + "__typename}")
	return b.String()
}

// candidates returns the fields of a type that may be selected. At the maximum depth, these are
// only scalars.
func (q *randomQuery) candidates(of *ast.Definition, depth int) (fields []*ast.FieldDefinition) {
	for _, f := range of.Fields {
		composite := q.schema.Types[f.Type.Name()].IsCompositeType()
		if strings.HasPrefix(f.Name, "__") && q.IntN(20) > 0 || composite && depth > 6 ||
			slices.Contains(unstable, of.Name+"."+f.Name) {
			continue
		}
		fields = append(fields, f)
		if composite && depth < 5 {
			fields = append(fields, f) // twice as likely as scalars
		}
	}
	return fields
}

func (q *randomQuery) field(f *ast.FieldDefinition, depth int) string {
	q.left--
	var arguments []string
	for _, a := range f.Arguments {
		required := a.Type.NonNull && a.DefaultValue == nil
		if required || q.IntN(5) == 0 {
			arguments = append(arguments, a.Name+": "+q.value(a.Type, a.Name))
		}
	}
	text := f.Name
	if len(arguments) > 0 {
		text = q.alias() + f.Name + "(" + strings.Join(arguments, ", ") + ")"
	} else if q.IntN(3) == 0 {
		text = q.alias() + f.Name
	}
	text += q.directive()
	if below := q.schema.Types[f.Type.Name()]; below.IsCompositeType() {
		text += q.selection(below, depth+1)
	}
	return text
}

// alias returns a unique alias for a field with arguments: two fields with the same response name
// must have the same arguments. Fields without arguments may share a response name, and are merged.
func (q *randomQuery) alias() string {
	q.aliases++
	return "a" + strconv.Itoa(q.aliases) + ": "
}

func (q *randomQuery) directive() string {
	switch q.IntN(20) {
	case 0:
		return fmt.Sprintf(" @%s(if: %t)", []string{"skip", "include"}[q.IntN(2)], q.IntN(2) == 0)
	case 1:
		return fmt.Sprintf(" @%s(if: %s)", []string{"skip", "include"}[q.IntN(2)], q.variable("Boolean!", q.IntN(2) == 0))
	}
	return " "
}

func (q *randomQuery) variable(of string, value any) string {
	name := "v" + strconv.Itoa(len(q.declared))
	q.declared = append(q.declared, "$"+name+": "+of)
	q.variables[name] = value
	return "$" + name
}

// value generates an argument of the correct type, whose value may be invalid.
func (q *randomQuery) value(t *ast.Type, name string) string {
	if !t.NonNull && q.IntN(15) == 0 {
		return "null"
	}
	if t.Elem != nil {
		var all []string
		for range q.IntN(3) {
			all = append(all, q.value(t.Elem, name))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	definition := q.schema.Types[t.Name()]
	switch definition.Kind {
	case ast.Enum:
		return definition.EnumValues[q.IntN(len(definition.EnumValues))].Name
	case ast.InputObject:
		var all []string
		for _, f := range definition.Fields {
			if f.Type.NonNull && f.DefaultValue == nil || q.IntN(3) == 0 {
				all = append(all, f.Name+": "+q.value(f.Type, f.Name))
			}
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	choose := func(values ...string) string { return values[q.IntN(len(values))] }
	switch t.Name() {
	case "ID":
		id := choose(q.ids...)
		if q.IntN(4) == 0 {
			return q.variable(t.String(), id)
		}
		if q.IntN(20) == 0 {
			return `"x"`
		}
		return strconv.Quote(id)
	case "Int", "Int64":
		if q.IntN(4) == 0 {
			return q.variable(t.String(), q.IntN(4))
		}
		return choose("1", "2", "3", "5", "0", "1000")
	case "Float":
		return choose("0.5", "2")
	case "Boolean":
		return choose("true", "false")
	case "DateTime":
		return choose(`"2020-01-01T00:00:00Z"`, `"2036-01-01T00:00:00Z"`, `"soon"`)
	}
	return choose(`"ada"`, `"bob"`, `"me"`, `"bracket"`, `"wall_mount"`, `"tools"`, `"nobody"`, `"Thing"`, `"ShortThing"`)
}
