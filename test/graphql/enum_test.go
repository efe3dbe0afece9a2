package graphql_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestEnumsAreCaseSensitive sends a value in the wrong case for each enum of each argument of the
// root fields, also in lists and input objects. A variable with such a value must be BAD_USER_INPUT
// and must not be read as another value.
func TestEnumsAreCaseSensitive(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		admin, schema := s.Administrator(), graph.New(nil).Schema()
		seen := make(map[string]bool)
		for _, root := range []*ast.Definition{schema.Query, schema.Mutation} {
			for _, field := range root.Fields {
				for _, argument := range field.Arguments {
					for _, position := range enumPositions(schema, argument.Type, nil) {
						seen[position.enum] = true
						document, variables := callWith(schema, root, field, argument, position)
						r := admin.GraphQL(document, variables)
						want := append([]any{argument.Name}, position.path...)
						switch {
						case len(r.Errors) != 1 || r.Code() != "BAD_USER_INPUT" || len(r.Errors[0].Extensions.Fields) != 1:
							t.Errorf("%s with %v: got %s %+v, want BAD_USER_INPUT", document, variables, r.Data, r.Errors)
						case fmt.Sprint(r.Errors[0].Extensions.Fields[0].Path) != fmt.Sprint(want):
							t.Errorf("%s with %v: got the path %v, want %v", document, variables,
								r.Errors[0].Extensions.Fields[0].Path, want)
						case !strings.HasSuffix(r.Errors[0].Message, allowed(schema, position.enum)):
							t.Errorf("%s: got %q, want the allowed values", document, r.Errors[0].Message)
						}
					}
				}
			}
		}
		// Arguments of other fields, and inputs for which the empty value of an enum is another value.
		file := servertest.ID(admin.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl")))
		var webhook struct {
			CreateWebhook struct{ Webhook struct{ ID string } }
		}
		admin.Query(`mutation { createWebhook(input: {url: "https://hook.invalid/", events: [FILE_PROCESSED]}) { webhook { id } } }`, nil, &webhook)
		for _, c := range []struct {
			document  string
			variables servertest.Object
		}{
			{`query ($id: ID!, $v: ImageFit!) { file(id: $id) { thumbnail(fit: $v) { url } } }`,
				servertest.Object{"id": file, "v": "contain"}},
			{`query ($id: ID!, $v: ImageFormat) { file(id: $id) { thumbnail(format: $v) { url } } }`,
				servertest.Object{"id": file, "v": "png"}},
			{`query ($id: ID!, $v: WebhookDeliveryState) { webhook(id: $id) { deliveries(state: $v) { nodes { id } } } }`,
				servertest.Object{"id": webhook.CreateWebhook.Webhook.ID, "v": "failed"}},
			{`mutation ($v: CollectionVisibility!) { createCollection(input: {name: "c", visibility: $v}) { collection { visibility } } }`, servertest.Object{"v": "private"}},
			{`mutation ($v: Role!) { setUserRole(input: {username: "staff", role: $v, reason: "r"}) { user { id } } }`,
				servertest.Object{"v": "administrator"}},
			{`query ($v: ThingSort!) { things(sort: $v) { nodes { id } } }`, servertest.Object{"v": "Popular"}},
			{`query ($v: [License!]) { things(filter: {licenses: $v}) { nodes { id } } }`,
				servertest.Object{"v": []string{"GPL", "gpl"}}},
			// Names that differ not only in case, which gqlparser rejects.
			{`query ($v: ThingSort!) { things(sort: $v) { nodes { id } } }`, servertest.Object{"v": "BEST"}},
			{`query ($v: ThingFilter!) { things(filter: $v) { nodes { id } } }`,
				servertest.Object{"v": servertest.Object{"licenses": []string{"CC", strings.Repeat("CC BY ", 100)}}}},
		} {
			if r := admin.GraphQL(c.document, c.variables); r.Code() != "BAD_USER_INPUT" ||
				!strings.Contains(r.Errors[0].Message, ": must be one of ") {
				t.Errorf("%s with %v: got %s %+v", c.document, c.variables, r.Data, r.Errors)
			}
			for name := range schema.Types {
				seen[name] = seen[name] || strings.Contains(c.document, "$v: "+name+")") ||
					strings.Contains(c.document, "$v: "+name+"!)")
			}
		}
		missing := slices.DeleteFunc(inputEnums(schema), func(name string) bool { return seen[name] })
		if len(missing) > 0 {
			t.Errorf("the enums %q were not tested", missing)
		}
	})
}

// allowed returns the end of the message about an unknown value of an enum, which is its last value
// in lower case.
func allowed(schema *ast.Schema, enum string) string {
	var names []string
	for _, v := range schema.Types[enum].EnumValues {
		names = append(names, v.Name)
	}
	return fmt.Sprintf(": must be one of %s (got %q)", strings.Join(names, ", "), strings.ToLower(names[len(names)-1]))
}

// enumPosition is a place of an enum in an input.
type enumPosition struct {
	enum  string
	path  []any // below the input
	value any   // the input with a value in lower case at the path
}

// enumPositions returns the places of enums in inputs of a type. visited has the names of the input
// objects around it.
func enumPositions(schema *ast.Schema, t *ast.Type, visited []string) (all []enumPosition) {
	if t.Elem != nil {
		for _, p := range enumPositions(schema, t.Elem, visited) {
			all = append(all, enumPosition{p.enum, append([]any{0}, p.path...), []any{p.value}})
		}
		return all
	}
	switch d := schema.Types[t.NamedType]; {
	case d.Name == "UploadFileInput": // it needs a file; other inputs have the same enum
	case d.Kind == ast.Enum:
		return []enumPosition{{enum: d.Name, value: strings.ToLower(d.EnumValues[len(d.EnumValues)-1].Name)}}
	case d.Kind == ast.InputObject && !slices.Contains(visited, d.Name):
		for _, f := range d.Fields {
			for _, p := range enumPositions(schema, f.Type, append(visited, d.Name)) {
				input := sampleInput(schema, t).(servertest.Object)
				input[f.Name] = p.value
				all = append(all, enumPosition{p.enum, append([]any{f.Name}, p.path...), input})
			}
		}
	}
	return all
}

// sampleInput returns an input of a type with all its required fields.
func sampleInput(schema *ast.Schema, t *ast.Type) any {
	if t.Elem != nil {
		return []any{sampleInput(schema, t.Elem)}
	}
	d := schema.Types[t.NamedType]
	switch {
	case d.Kind == ast.Enum:
		return d.EnumValues[0].Name
	case d.Kind == ast.InputObject:
		input := servertest.Object{}
		for _, f := range d.Fields {
			if f.Type.NonNull && f.DefaultValue == nil {
				input[f.Name] = sampleInput(schema, f.Type)
			}
		}
		return input
	}
	return map[string]any{"Boolean": true, "Int": 1, "Int64": 1, "Float": 1, "DateTime": "2026-01-01T00:00:00Z"}[d.Name]
}

// callWith returns an operation that calls a root field with an input that has an enum in lower
// case.
func callWith(schema *ast.Schema, root *ast.Definition, field *ast.FieldDefinition, of *ast.ArgumentDefinition,
	position enumPosition) (string, servertest.Object) {
	variables := servertest.Object{of.Name: position.value}
	var declared, passed []string
	for _, a := range field.Arguments {
		required := a.Type.NonNull && a.DefaultValue == nil
		if a != of && !required {
			continue
		}
		if a != of {
			variables[a.Name] = sampleInput(schema, a.Type)
		}
		declared, passed = append(declared, "$"+a.Name+": "+a.Type.String()), append(passed, a.Name+": $"+a.Name)
	}
	selection := ""
	if schema.Types[field.Type.Name()].IsCompositeType() {
		selection = " { __typename }"
	}
	return fmt.Sprintf("%s (%s) { %s(%s)%s }", strings.ToLower(root.Name), strings.Join(declared, ", "), field.Name,
		strings.Join(passed, ", "), selection), fillStrings(variables)
}

// fillStrings replaces nil, which stands for a text or an ID.
func fillStrings(v servertest.Object) servertest.Object {
	var fill func(v any) any
	fill = func(v any) any {
		switch v := v.(type) {
		case nil:
			return "1"
		case servertest.Object:
			for key, below := range v {
				v[key] = fill(below)
			}
		case []any:
			for i, below := range v {
				v[i] = fill(below)
			}
		}
		return v
	}
	return fill(v).(servertest.Object)
}

// inputEnums returns the names of the enums that are arguments of root fields or fields of input
// objects.
func inputEnums(schema *ast.Schema) []string {
	names := make(map[string]bool)
	add := func(t *ast.Type) {
		if d := schema.Types[t.Name()]; d.Kind == ast.Enum && !d.BuiltIn {
			names[d.Name] = true
		}
	}
	for _, d := range schema.Types {
		for _, f := range d.Fields {
			if d.Kind == ast.InputObject {
				add(f.Type)
			}
			for _, a := range f.Arguments {
				if !strings.HasPrefix(d.Name, "__") {
					add(a.Type)
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
