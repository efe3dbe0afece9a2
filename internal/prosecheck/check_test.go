package main

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	long := strings.Repeat("long ", 21)
	for _, c := range []struct {
		name, file, text, want string
	}{
		{"comment", "a.go", "package a\n\n// It tells, whether it works.\n", `a.go:3: "// It tells"`},
		{"string", "a.go", "package a\n\nvar s = \"nothing hangs on it\"\n", `a.go:3: "hangs on"`},
		{"spelling", "a.go", "package a\n\n// The colours of the licences in licences.csv.\n", `a.go:3: "colours"`},
		{"identifier", "a.go", "package a\n\nvar shelf, whoever int\n", ""},
		{"directive", "a.go", "//go:generate sh " + long + "\npackage a\n", ""},
		{"long comment", "a.go", "package a\n\n// " + long + "\n", "a.go:3: 108 columns"},
		{"long code", "a.go", "package a\n\nvar s = \"" + long + "\"\n", ""},
		{"Markdown", "a.md", "The user\nand himself.\n", `a.md:2: "himself"`},
		{"long Markdown", "a.md", long + "\n", "a.md:1: 105 columns"},
		{"code in Markdown", "a.md", "```\n" + long + "anew\n```\n`anew`\n", ""},
		{"link", "a.md", "See [the check](check.go#L1), [it](https://a.example/b), [us](/c) and\n[that](gone.md).\n",
			"a.md:2: there is no file gone.md"},
		{"description", "a.graphqls", "type A {\n  \"What the staff sees.\"\n  b: Int\n}\n", `a.graphqls:2: "the staff"`},
		{"block", "a.graphqls", "\"\"\"\nOne.\nSaved for ever.\n\"\"\"\ntype A { b: Int }\n", `a.graphqls:3: "for ever"`},
		{"document", "a.graphql", "# List what the staff sees.\nquery a { b }\n", `a.graphql:1: "the staff"`},
		{"field", "a.graphqls", "type A {\n  shelf: Int\n}\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(check(c.file, []byte(c.text)), "\n")
			if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
