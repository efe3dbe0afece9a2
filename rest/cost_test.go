package rest

import (
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/graph"
)

// costs returns the cost of every operation for pages of perPage entries.
func costs(t *testing.T, perPage int) map[string]int {
	t.Helper()
	g := graph.New(nil)
	_, operations, err := loadOperations(g.Schema())
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
			case "after":
				variables[v.Variable] = graph.PageCursor(3)
			case "term":
				variables[v.Variable] = "a box for three lamps"
			}
		}
		found[name] = calculator.Of(&graphql.OperationContext{Operation: op.OperationDefinition, Variables: variables})
	}
	return found
}

// TestCosts checks that the cost of every operation is bounded, even with the longest pages.
func TestCosts(t *testing.T) {
	const most = 150_000 // about 100 makes with complete things
	for name, cost := range costs(t, 100) {
		if cost > most || cost < 1 {
			t.Errorf("%s costs %d with pages of 100, want 1 to %d", name, cost, most)
		}
	}
}
