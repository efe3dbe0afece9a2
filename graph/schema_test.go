package graph_test

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/graph"
)

// Whatever a client can ask for is described, in words that say more than its name.
func TestEverythingIsDescribed(t *testing.T) {
	schema := graph.New(nil).Schema()
	seen := 0
	check := func(name, description string) {
		seen++
		last := name[strings.LastIndexAny(name, ".(")+1:]
		if d := strings.TrimSpace(description); d == "" || strings.EqualFold(strings.TrimRight(d, "."), strings.TrimRight(last, ")")) {
			t.Errorf("%s has the description %q", name, description)
		}
	}
	for _, definition := range schema.Types {
		if definition.BuiltIn || strings.HasPrefix(definition.Name, "__") {
			continue
		}
		check(definition.Name, definition.Description)
		for _, field := range definition.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			check(definition.Name+"."+field.Name, field.Description)
			for _, argument := range field.Arguments {
				check(definition.Name+"."+field.Name+"("+argument.Name+")", argument.Description)
			}
		}
		for _, value := range definition.EnumValues {
			check(definition.Name+"."+value.Name, value.Description)
		}
	}
	if seen < 150 {
		t.Errorf("only %d names were seen", seen)
	}
}

// Each field of the roots says by @auth what it needs: none is open by omission.
func TestEveryRootFieldNeedsAuth(t *testing.T) {
	schema := graph.New(nil).Schema()
	for _, field := range append(schema.Query.Fields, schema.Mutation.Fields...) {
		if !strings.HasPrefix(field.Name, "__") && field.Directives.ForName("auth") == nil {
			t.Errorf("%s has no @auth", field.Name)
		}
	}
}
