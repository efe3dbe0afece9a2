package graphql_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/test/servertest"
)

// allColumns selects fields that read all columns of all rows, and skips them: what an operation
// reads does not depend on variables.
const allColumns = ` all: things @skip(if: true) { nodes {
	description descriptionHtml instructions instructionsHtml detailsParts tags { name } category { name } fileCount isLiked isCollected isWatched
	takedown { reason } makes { nodes { description } } comments { nodes { body } } collections { description }
	creator { bio avatarUrl isFollowed email usage { __typename } } files { isAvailable }
} }`

// TestOperationsReadWhatTheyNeed selects each field of the types that lists contain, alone, because
// an operation reads only the columns that its fields need. The values must be the same as in an
// operation that reads all columns.
func TestOperationsReadWhatTheyNeed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		servertest.FullThing(t, s, ada, bob)
		ada.Thing("Draft")
		g := graph.New(&graph.Resolver{Store: s.Store, URLs: urls.Builder{Base: s.URL, Key: make([]byte, 32)}})
		callers := callersOf(t, s, ada, bob)
		for name, path := range map[string]string{
			"Thing":                 "things { nodes { %s } }",
			"ThingConnection":       "things { %s }",
			"ThingEdge":             "things { edges { %s } }",
			"PageInfo":              "things { pageInfo { %s } }",
			"Make":                  "things { nodes { makes { nodes { %s } } } }",
			"MakeConnection":        "things { nodes { makes { %s } } }",
			"MakeEdge":              "makes { edges { %s } }",
			"Comment":               "things { nodes { comments { nodes { %s } } } }",
			"CommentConnection":     "things { nodes { comments { %s } } }",
			"CommentEdge":           "comments { edges { %s } }",
			"Collection":            "collections { nodes { %s } }",
			"CollectionEdge":        "collections { edges { %s } }",
			"User":                  "things { nodes { creator { %s } } }",
			"UserConnection":        "things { nodes { creator { followers { %s } } } }",
			"UserEdge":              "things { nodes { creator { followers { edges { %s } } } } }",
			"File":                  "things { nodes { files { %s } } }",
			"Tag":                   "things { nodes { tags { %s } } }",
			"TagEdge":               "tags { edges { %s } }",
			"Category":              "things { nodes { category { %s } } }",
			"MediaImage":            "things { nodes { defaultImage { %s } } }",
			"collected Thing":       "collections { nodes { things { nodes { %s } } } }",
			"remixed Thing":         "things { nodes { ancestors { nodes { %s } } } }",
			"made Thing":            "makes { nodes { thing { %s } } }",
			"User of a comment":     "comments { nodes { creator { %s } } }",
			"File of a make":        "makes { nodes { files { %s } } }",
			"File of a comment":     "comments { nodes { files { %s } } }",
			"image of a Make":       "makes { nodes { defaultImage { %s } } }",
			"cover of a Collection": "collections { nodes { cover { %s } } }",
		} {
			of := typeAt(t, g.Schema(), path)
			for _, f := range of.Fields {
				selection, ok := selectionOf(g.Schema(), f)
				if !ok || slices.Contains(unstable, of.Name+"."+f.Name) {
					continue
				}
				text := fmt.Sprintf(path, selection)
				for i, ctx := range callers {
					got, gotErrors := runText(t, ctx, g, "{"+text+"}")
					want, wantErrors := runText(t, ctx, g, "{"+text+allColumns+"}")
					if got != want || !slices.Equal(gotErrors, wantErrors) {
						t.Errorf("%s, caller %d: %s\ngot  %s %s\nwant %s %s", name, i, text, got, gotErrors, want, wantErrors)
					}
				}
			}
		}
	})
}

// selectionOf returns a field, with a short selection set if it needs one. ok is false if an
// argument is required.
func selectionOf(schema *ast.Schema, f *ast.FieldDefinition) (text string, ok bool) {
	for _, a := range f.Arguments {
		if a.Type.NonNull && a.DefaultValue == nil {
			return "", false
		}
	}
	below := schema.Types[f.Type.Name()]
	switch {
	case !below.IsCompositeType():
		return f.Name, true
	case below.Kind != ast.Object || below.Fields.ForName("id") == nil:
		return f.Name + " { __typename }", true
	}
	return f.Name + " { id }", true
}

// typeAt returns the type of the fields that replace %s in a path.
func typeAt(t *testing.T, schema *ast.Schema, path string) *ast.Definition {
	t.Helper()
	document, errs := gqlparser.LoadQueryWithRules(schema, "{"+fmt.Sprintf(path, "__typename")+"}",
		rules.NewDefaultRules())
	if errs != nil {
		t.Fatal(errs)
	}
	of := document.Operations[0].SelectionSet[0].(*ast.Field)
	for of.Name != "__typename" {
		of = of.SelectionSet[0].(*ast.Field)
	}
	return of.ObjectDefinition
}

func runText(t *testing.T, ctx context.Context, g *graph.Graph, text string) (string, []string) {
	t.Helper()
	document, errs := gqlparser.LoadQueryWithRules(g.Schema(), text, rules.NewDefaultRules())
	if errs != nil {
		t.Fatalf("%s: %v", text, errs)
	}
	return runQuery(ctx, g, document, nil)
}
