package rest

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/meshyard/meshyard/graph"
)

// TestRoutesWithoutDocuments checks that matchOperations finds routes and stored documents that do
// not match, before requests are served.
func TestRoutesWithoutDocuments(t *testing.T) {
	schema := graph.New(nil).Schema()
	for name, c := range map[string]struct {
		change func(documents string) string
		row    *route
		want   string
	}{
		"an operation without a route": {func(d string) string { return d + "\nquery get_me { answer: me { id } }" }, nil,
			"operation get_me: no route"},
		"a route without an operation": {func(d string) string { return d }, &route{get, "/me", "get_me", headRedirect,
			nil}, "no operation get_me"},
		"a parameter without a variable": {func(d string) string { return d + "\nquery get_me { answer: me { id } }" },
			&route{get, "/users/{id}", "get_me", headRedirect, nil}, "no variable $id"},
		"an operation of two fields": {func(d string) string {
			return d +
				"\nquery get_me { answer: me { id } also: me { id } }"
		}, &route{get, "/me", "get_me", headRedirect, nil}, "want one field"},
		"a deprecation of the route alone": {func(d string) string { return d + "\nquery get_me { answer: me { id } }" },
			&route{get, "/me", "get_me", headRedirect, toFinalizeFiles}, "do not agree"},
		"a deprecation of the field alone": {func(d string) string { return d + "\nquery get_me { answer: newest { id } }" },
			&route{get, "/me", "get_me", headRedirect, nil}, "do not agree"},
		"an answer of another name": {func(d string) string { return d + "\nquery get_me { me { id } }" },
			&route{get, "/me", "get_me", headRedirect, nil}, "want one field"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			all := routes
			t.Cleanup(func() { routes = all })
			if c.row != nil {
				routes = append(all[:len(all):len(all)], *c.row)
			}
			document, errs := gqlparser.LoadQueryWithRules(schema, c.change(Documents()), rules.NewDefaultRules())
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if _, err := matchOperations(document); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func FuzzConvert(f *testing.F) {
	s := &server{schema: graph.New(nil).Schema()}
	f.Add("12")
	f.Add("cc-sa")
	f.Add("\x00")
	f.Fuzz(func(t *testing.T, text string) {
		for _, variable := range []string{"ID", "Int", "Boolean", "String", "License", "TargetType", "FinalizeFileInput"} {
			for _, value := range []any{text, []any{text}, map[string]any{"id": text, "rank": text}, true, nil} {
				// Every value is converted or rejected as bad input: no panic and no other error.
				_, err := s.convert("x", value, &ast.Type{NamedType: variable})
				if err != nil && !strings.HasPrefix(err.Error(), "x") {
					t.Errorf("convert(%#v, %s): %v", value, variable, err)
				}
			}
		}
	})
}
