package rest

import (
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/graphqlhttp"
)

// costs returns the cost of every operation when lists have so many entries.
func costs(t *testing.T, perPage int) map[string]int {
	t.Helper()
	g := graph.New(nil)
	document, err := loadDocument(g.Schema())
	if err != nil {
		t.Fatal(err)
	}
	operations, err := matchOperations(document, g.Schema())
	if err != nil {
		t.Fatal(err)
	}
	calculator, err := g.Costs()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]int)
	for name, op := range operations {
		variables := make(map[string]any)
		for _, v := range op.VariableDefinitions {
			if v.DefaultValue != nil {
				if variables[v.Variable], err = v.DefaultValue.Value(nil); err != nil {
					t.Fatal(err)
				}
			}
			switch v.Variable {
			case "per_page":
				variables[v.Variable] = perPage
			case "page":
				variables[v.Variable] = 3
			case "term":
				variables[v.Variable] = "a box for three lamps"
			}
		}
		found[name] = calculator.Of(&graphql.OperationContext{Operation: op.OperationDefinition, Variables: variables})
	}
	return found
}

// TestCosts checks that a client within the rate limit, which allows for a cost of 10,000 for each
// request on average, does not meet the limit of costs with pages of the default length, and that
// the longest pages cost less than what GraphQL takes in one operation.
func TestCosts(t *testing.T) {
	const downloads, files = "get_users_username_downloads", "get_things_thing_id_files"
	dear := map[string]int{downloads: 40_000, files: 25_000} // whole things; up to 1,000 files
	for name, cost := range costs(t, 30) {
		if limit := max(10_000, dear[name]); cost > limit || cost < 1 {
			t.Errorf("%s costs %d with pages of 30, want at most %d", name, cost, limit)
		}
	}
	dear[downloads] = 130_000
	for name, cost := range costs(t, 100) {
		if limit := max(graphqlhttp.MaxCost, dear[name]); cost > limit {
			t.Errorf("%s costs %d with pages of 100, want at most %d", name, cost, limit)
		}
	}
}
