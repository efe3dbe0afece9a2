package tokenize_test

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/tokenize"
)

func TestExcerpt(t *testing.T) {
	words := func(word string, n int) string { return strings.Repeat(word+" ", n) }
	for _, c := range []struct {
		name, text, query string
		want              string // the parts, matches in brackets
	}{
		{"short", "A red bracket.", "bracket", "A red [bracket]."},
		{"several matches", "red, and red", "red", "[red], and [red]"},
		{"no match", "A red bracket.", "blue", ""},
		{"empty", "", "red", ""},
		{"after long text", words("four", 30) + "red " + words("four", 60), "red", words("four", 12) + "[red] " +
			words("four", 35)},
		{"after the window", words("four", 500) + "red", "red", ""},
		{"no spaces nearby", strings.Repeat("é", 500), "x" + strings.Repeat("é", 10), ""},
		{"long match", strings.Repeat("é", 500), strings.Repeat("é", 10), "[" + strings.Repeat("é", 500) + "]"},
	} {
		var got strings.Builder
		for _, part := range tokenize.Excerpt(c.text, tokenize.Query(c.query)) {
			if part.IsMatch {
				got.WriteString("[" + part.Text + "]")
			} else {
				got.WriteString(part.Text)
			}
		}
		if got.String() != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got.String(), c.want)
		}
	}
}
