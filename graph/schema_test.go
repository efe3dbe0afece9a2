package graph_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/graph"
)

// TestEverythingIsDescribed checks that every type, field, argument and enum value has a
// description that is more than its name.
func TestEverythingIsDescribed(t *testing.T) {
	schema := graph.New(nil).Schema()
	seen := 0
	check := func(name, description string) {
		seen++
		last := name[strings.LastIndexAny(name, ".(")+1:]
		if d := strings.TrimSpace(description); d == "" || strings.EqualFold(strings.TrimRight(d, "."),
			strings.TrimRight(last, ")")) {
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

// TestEveryRootFieldNeedsAuth checks that every query and mutation has an @auth directive, so that
// no field is public by omission.
func TestEveryRootFieldNeedsAuth(t *testing.T) {
	schema := graph.New(nil).Schema()
	for _, field := range append(schema.Query.Fields, schema.Mutation.Fields...) {
		if !strings.HasPrefix(field.Name, "__") && field.Directives.ForName("auth") == nil {
			t.Errorf("%s has no @auth", field.Name)
		}
	}
}

// TestSchemaLint checks the rules of docs/schema.md: the names, the nullability and the structures
// that GitHub's and Relay's conventions require.
func TestSchemaLint(t *testing.T) {
	schema := graph.New(nil).Schema()
	camel, pascal, upper := regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`), regexp.MustCompile(`^[A-Z][a-zA-Z0-9]*$`),
		regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	retired := regexp.MustCompile(`^(modifiedAt|at|author|owner|isAdmin|isModerator|page|postedAfter|postedBefore)$`)
	for name, d := range schema.Types {
		if d.BuiltIn || strings.HasPrefix(name, "__") {
			continue
		}
		if !pascal.MatchString(name) {
			t.Errorf("type %s: want PascalCase", name)
		}
		for _, v := range d.EnumValues {
			if !upper.MatchString(v.Name) {
				t.Errorf("%s.%s: want upper case", name, v.Name)
			}
		}
		for _, f := range d.Fields {
			guarded := f.Directives.ForName("auth") != nil
			switch {
			case strings.HasPrefix(f.Name, "__"):
				continue
			case !camel.MatchString(f.Name):
				t.Errorf("%s.%s: want camelCase", name, f.Name)
			case retired.MatchString(f.Name):
				t.Errorf("%s.%s: the schema has another word for it", name, f.Name)
			case f.Type.NonNull && guarded && d != schema.Subscription:
				t.Errorf("%s.%s can be refused: want a nullable type, so that its siblings are answered", name, f.Name)
			case f.Type.Name() == "Boolean" && d.Kind == ast.Object && !strings.HasPrefix(f.Name, "is") &&
				!strings.HasPrefix(f.Name, "has") &&
				!strings.HasPrefix(f.Name, "needs") && !strings.HasPrefix(f.Name, "allows") && name != "Mesh":
				t.Errorf("%s.%s: want a name such as isX", name, f.Name)
			case strings.HasSuffix(f.Name, "At") && f.Type.Name() != "DateTime":
				t.Errorf("%s.%s: want a DateTime", name, f.Name)
			}
			if !strings.HasSuffix(f.Type.Name(), "Connection") {
				continue
			}
			for i, argument := range []string{"first", "after", "last", "before"} {
				if len(f.Arguments) <= i || f.Arguments[i].Name != argument {
					t.Errorf("%s.%s: want %s as argument %d", name, f.Name, argument, i+1)
				} else if got, want := f.Arguments[i].Description, schema.Query.Fields.ForName("things").
					Arguments[i].Description; got != want {
					t.Errorf("%s.%s(%s): got the description %q, want that of Query.things: %q", name, f.Name, argument, got, want)
				}
			}
			connection := schema.Types[f.Type.Name()]
			for field, want := range map[string]string{"pageInfo": "PageInfo!", "totalCount": "Int!"} {
				if got := connection.Fields.ForName(field); got == nil || got.Type.String() != want {
					t.Errorf("%s.%s: want %s", connection.Name, field, want)
				}
			}
		}
		if id := d.Fields.ForName("nodeId"); slices.Contains(d.Interfaces, "Node") != (id != nil) && d.Kind == ast.Object {
			t.Errorf("%s: want both Node and nodeId, or neither", name)
		}
	}
	for _, f := range schema.Mutation.Fields {
		title := strings.ToUpper(f.Name[:1]) + f.Name[1:]
		if len(f.Arguments) != 1 || f.Arguments[0].Name != "input" || f.Arguments[0].Type.String() != title+"Input!" ||
			f.Type.String() != title+"Payload" {
			t.Errorf("%s: want one input: %sInput! and a nullable %[2]sPayload", f.Name, title)
		}
		deleted := schema.Types[title+"Payload"].Fields.ForName("deletedNodeId")
		if d := schema.Types[strings.TrimPrefix(title, "Delete")]; strings.HasPrefix(title, "Delete") && d != nil &&
			slices.Contains(d.Interfaces, "Node") &&
			deleted == nil && schema.Types[title+"Payload"].Fields.ForName("deletedId") != nil {
			t.Errorf("%s deletes a Node: want deletedNodeId", f.Name)
		}
		if opposite, ok := strings.CutPrefix(f.Name, "un"); ok && !strings.HasPrefix(f.Name, "undo") &&
			schema.Mutation.Fields.ForName(opposite) == nil {
			t.Errorf("%s has no opposite %s", f.Name, opposite)
		}
	}
	for name, d := range schema.Types {
		for _, f := range d.Fields {
			if d.Kind != ast.InputObject || !strings.HasPrefix(name, "Update") || f.Type.NonNull {
				continue
			}
			if f.Directives.ForName("null") == nil && f.Name != "target" && f.Name != "username" {
				t.Errorf("%s.%s: want @null, which says what null means", name, f.Name)
			}
		}
	}
}
