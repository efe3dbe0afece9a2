package graphqlhttp

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// TestEscapes checks the escape sequences of strings that gqlparser does not read itself.
func TestEscapes(t *testing.T) {
	d, err := newDocuments(testSchema(t).Schema(), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for literal, want := range map[string]string{
		`"\uD83D\ude00\u0041"`:          "😀A",
		`"\u0041\uD83D\uDE00"`:          "A😀",
		`"\u{1F600}\u{41}\u{22}\u{e9}"`: "😀A\"é",
		`"\\uD83D\n\u000A"`:             "\\uD83D\n\n",
		`"" # "\uD83D"`:                 "",
		`"""\uD83D \""" \u{x}"""`:       `\uD83D """ \u{x}`,
		`"\u{FFFD}\uFFFD"`:              "\uFFFD\uFFFD",
	} {
		document, errs := d.parse("{ user(username: "+literal+"\n) { id } }", new(documentStats))
		if len(errs) > 0 {
			t.Errorf("%s: got %v", literal, errs)
			continue
		}
		field := document.Operations[0].SelectionSet[0].(*ast.Field)
		if got := field.Arguments[0].Value.Raw; got != want {
			t.Errorf("%s: got %q, want %q", literal, got, want)
		}
	}
	for _, escape := range []string{`\uD83D`, `\uDE00`, `\uD83D\uD83D`, `\uDE00\uD83D`, `\uD83D\u0041`, `\u{D83D}`,
		`\u{110000}`, `\u{fffffffff}`, `\u{}`, `\u{g}`, `\u{1`} {
		_, errs := d.parse("{\n user(username: \"😀"+escape+"\") { id } }", new(documentStats))
		if len(errs) != 1 || errs[0].Extensions["code"] != "GRAPHQL_PARSE_FAILED" ||
			!strings.Contains(errs[0].Message, "Invalid") || len(errs[0].Locations) != 1 || errs[0].Locations[0].Line != 2 {
			t.Errorf("%s: got %v, want a syntax error in line 2", escape, errs)
		}
	}
}
