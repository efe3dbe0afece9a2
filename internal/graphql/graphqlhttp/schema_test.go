package graphqlhttp

import (
	"context"
	"os"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// testSchema returns the product's schema without resolvers.
func testSchema(t testing.TB) graphql.ExecutableSchema {
	t.Helper()
	sdl, err := os.ReadFile("../../../rest/testdata/schema.golden.graphql")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema", Input: string(sdl)})
	if err != nil {
		t.Fatal(err)
	}
	return &graphql.ExecutableSchemaMock{
		SchemaFunc: func() *ast.Schema { return schema },
		ComplexityFunc: func(context.Context, string, string, int, map[string]any) (int, bool) {
			return 0, false
		},
	}
}
