//go:build depthfirst

package graphql_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestExecutorsAgree runs random queries and subscriptions with the executor that gqlgen generates
// and with this project's executor. The data of responses and of first events must be equal, and so
// must the errors, in any order. MESHYARD_TEST_DIFFERENTIAL is the number of operations on each
// engine.
func TestExecutorsAgree(t *testing.T) {
	count := 1_000
	if n, err := strconv.Atoi(os.Getenv("MESHYARD_TEST_DIFFERENTIAL")); err == nil {
		count = n
	}
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		world := servertest.FullThing(t, s, ada, bob)
		draft := ada.Thing("Draft")
		var ids []string
		for _, name := range []string{"thing_id", "file_id", "image_id", "copy_id", "comment_id", "collection_id"} {
			ids = append(ids, fmt.Sprint(world[name]))
		}
		ids = append(ids, fmt.Sprint(draft), "1", "2", "3", "4", "999999")
		ours := graph.New(&graph.Resolver{Store: s.Store, URLs: urls.Builder{Base: s.URL, Key: make([]byte, 32)}})
		theirs := ours.DepthFirst()
		callers := callersOf(t, s, ada, bob)
		answered, failed := 0, 0
		for seed := range count {
			q := randomQuery{Rand: rand.New(rand.NewPCG(uint64(seed), 7)), schema: ours.Schema(), ids: ids,
				variables: make(map[string]any)}
			subscribes := seed%10 == 9
			var text string
			if subscribes {
				q.ids = []string{fmt.Sprint(world["thing_id"]), "999999"}
				text = q.subscription()
			} else {
				text = q.operation()
			}
			document, errs := gqlparser.LoadQueryWithRules(ours.Schema(), text, rules.NewDefaultRules())
			// The generator does not check whether nested fragments conflict when they are merged.
			if len(errs) > 0 && (strings.Contains(errs[0].Message, "introspection depth") ||
				strings.Contains(errs[0].Message, "return conflicting types")) {
				continue
			}
			if errs != nil {
				t.Fatalf("query %d is not valid: %v\n%s", seed, errs, text)
			}
			ctx := callers[q.IntN(len(callers))]
			response := respond(ctx, theirs, document, q.variables)
			if subscribes {
				correct(response, document)
			}
			want, wantErrors := textOf(response)
			for range 2 { // the second run uses the cached plan of the first
				got, gotErrors := runQuery(ctx, ours, document, q.variables)
				if got != want || !slices.Equal(gotErrors, wantErrors) {
					t.Fatalf("query %d: %s\n%v\nours: %s\n%s\ngqlgen's: %s\n%s", seed, text, q.variables, got, gotErrors, want,
						wantErrors)
				}
			}
			if want != "null" {
				answered++
			}
			if len(wantErrors) > 0 {
				failed++
			}
		}
		if answered < count/3 || failed < count/20 {
			t.Errorf("%d of %d queries have data, %d errors: too few for a comparison", answered, count, failed)
		}
	})
}

// correct corrects an event of gqlgen's executor, where it differs from the GraphQL specification
// (version of October 2021, section 6.2.3.2): it leaves the root field out of the paths of errors,
// and a null in a non-null root field does not make the data null. And it reports a document with a
// wrong number of root fields as an internal error.
func correct(event *graphql.Response, document *ast.QueryDocument) {
	root := document.Operations[0].SelectionSet[0].(*ast.Field)
	switch {
	case event.Data != nil:
		for _, e := range event.Errors {
			e.Path = slices.Insert(e.Path, 0, ast.PathElement(ast.PathName(root.Alias)))
		}
		if string(event.Data) == `{"`+root.Alias+`":null}` {
			event.Data = []byte("null")
		}
	case event.Errors[0].Path == nil:
		event.Errors[0].Message = "a subscription must select exactly one root field"
		event.Errors[0].Extensions = map[string]any{"code": apierror.ValidationFailed}
	}
}

// subscription generates a subscription. All have a first event, or fail, if the IDs are those of
// things with files, or unknown.
func (q *randomQuery) subscription() string {
	q.left = 4 + q.IntN(40)
	fields := []string{"fileProcessing", "thingProcessing", "notifications"}
	field := q.schema.Subscription.Fields.ForName(fields[q.IntN(len(fields))])
	return q.document("subscription", "{"+q.field(field, 0)+"}")
}
