package graphiql

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// TestExamplesFitSchema checks that each document is valid for the schema, and its variables for
// the document.
func TestExamplesFitSchema(t *testing.T) {
	t.Parallel()
	schema := loadSchema(t)
	for _, example := range Examples() {
		t.Run(example.Title, func(t *testing.T) {
			t.Parallel()
			document, errs := gqlparser.LoadQueryWithRules(schema, example.Query, rules.NewDefaultRules())
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if len(document.Operations) != 1 || document.Operations[0].Name == "" {
				t.Fatalf("got %d operations, want one with a name, which titles its tab", len(document.Operations))
			}
			if !strings.Contains(example.Query, "\n#\n# ") {
				t.Error("want a comment below the title that explains the example")
			}
			variables := map[string]any{}
			if example.Variables != "" {
				if err := json.Unmarshal([]byte(example.Variables), &variables); err != nil {
					t.Fatalf("variables: %v", err)
				}
			}
			if file, ok := variables["file"]; ok && file == nil {
				variables["file"] = "what the page puts there"
			}
			if _, err := validator.VariableValues(schema, document.Operations[0], variables); err != nil {
				t.Errorf("variables: %v", err)
			}
		})
	}
}

// loadSchema reads the schema of the server. It fails the test if there is none, because nothing
// would be checked.
func loadSchema(t *testing.T) *ast.Schema {
	t.Helper()
	names, err := filepath.Glob("../../../graph/*.graphqls")
	if err != nil || len(names) == 0 {
		t.Fatalf("schema files ../../../graph/*.graphqls: found %d, %v", len(names), err)
	}
	var sources []*ast.Source
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, &ast.Source{Name: name, Input: string(text)})
	}
	schema, err := gqlparser.LoadSchema(sources...)
	if err != nil {
		t.Fatalf("schema: %v", err)
	}
	return schema
}
