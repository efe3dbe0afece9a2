package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/app/apptest"
	"github.com/meshyard/meshyard/internal/config"
)

// Documents that would cost far more than they weigh are refused before they are validated, and the answers stay small. None of
// these ends in time where the limits are missing.
func TestHostileDocuments(t *testing.T) {
	s := apptest.Start(t, "sqlite")
	ada, nobody := s.User("ada"), s.Client("")
	fanOut := "{me{...F0}} "
	for i := range 100 {
		fanOut += fmt.Sprintf("fragment F%d on User{...F%d ...F%d} ", i, i+1, i+1)
	}
	nested, deep := "id", "id"
	for range 4 {
		nested = "files{target{... on Thing{" + nested + "}}}"
	}
	for range 30 {
		deep = "files{owner{downloads{nodes{thing{" + deep + "}}}}}"
	}
	for name, document := range map[string]string{
		"a fan of fragments":   fanOut + "fragment F100 on User{id}",
		"one field over again": "{me{" + strings.Repeat("id ", 1_900) + "}}",
		"unknown fields":       "{me{" + strings.Repeat("nothing ", 990) + "}}",
		"directives":           "{me{id " + strings.Repeat("@skip(if: true)", 200) + "}}",
		"aliases":              "{" + aliases(600) + "}",
		"lists in lists":       "{thing(id:1){" + nested + "}}",
		"depth":                "{thing(id:1){" + deep + "}}",
		"a circle":             "{me{...A}} fragment A on User{...B} fragment B on User{...A}",
		"braces":               strings.Repeat("{a", 100_000),
	} {
		for _, c := range []*apptest.Client{ada, nobody} {
			r := c.Request("POST", "/graphql", map[string]any{"query": document})
			r.Header.Set("Content-Type", "application/json")
			answer := c.Send(r)
			if !strings.Contains(string(answer.Bytes), `"BAD_USER_INPUT"`) || len(answer.Bytes) > 16<<10 {
				t.Errorf("%s: %d bytes, %.200s", name, len(answer.Bytes), answer.Bytes)
			}
		}
	}
	decode(t, nobody.GraphQL(`{ __schema { types { name fields { name type { ofType { ofType { ofType { ofType { name } } } } } } } } }`, nil), new(any))
}

func aliases(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d:me{id} ", i)
	}
	return b.String()
}

// A server that is closed to explorers answers what its users ask, and nothing about itself.
func TestHardened(t *testing.T) {
	s := apptest.Start(t, "sqlite", func(c *config.Settings) { c.Hardened = true })
	ada := s.User("ada")
	decode(t, ada.GraphQL(`{ me { id } }`, nil), new(any))
	for _, document := range []string{`{ __schema { types { name } } }`, `{ __type(name: "Query") { name } }`} {
		if r := ada.GraphQL(document, nil); r.Code() != "FORBIDDEN" {
			t.Errorf("%s: %s %+v", document, r.Data, r.Errors)
		}
	}
	if r := ada.GraphQL(`{ me { usernam } }`, nil); r.Code() != "BAD_USER_INPUT" || strings.Contains(r.Errors[0].Message, "username") {
		t.Errorf("a suggestion: %+v", r.Errors)
	}
	ada.Get("/graphql?query={me{id}}").Want(t, 405)
	ada.Get("/graphiql").Want(t, 404)
}

// Requests beyond the limit are refused on both faces, each in its own shape.
func TestRateLimit(t *testing.T) {
	s := apptest.Start(t, "sqlite", func(c *config.Settings) { c.RateLimit = 3 })
	ada, bob := s.User("ada"), s.User("bob")
	for range 3 {
		ada.Get("/files/1").Want(t, 404)
	}
	r := ada.Get("/files/1").Want(t, 429)
	if r.Header.Get("X-Error") != "Too Many Requests" || r.Header.Get("Retry-After") == "" {
		t.Errorf("%v %s", r.Header, r.Bytes)
	}
	if g := ada.GraphQL(`{ me { id } }`, nil); g.Code() != "RATE_LIMITED" {
		t.Errorf("%+v", g.Errors)
	}
	bob.Get("/files/1").Want(t, 404)
	s.Client("").Get("/healthz").Want(t, 200)
}
