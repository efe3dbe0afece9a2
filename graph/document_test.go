package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
)

func persistedAs(hash string) map[string]any {
	return map[string]any{"persistedQuery": map[string]any{"version": 1, "sha256Hash": hash}}
}

// Automatic persisted queries are known by their hash once they have run, and not before.
func TestPersisted(t *testing.T) {
	d, err := newDocuments(New(nil).Schema(), false, []Document{{"mine", "{ me { id } }\n"}})
	if err != nil {
		t.Fatal(err)
	}
	const text = "{__typename}"
	for i, c := range []struct {
		query      string
		extensions map[string]any
		wrong      string
	}{
		{"", persistedAs(id(text)), "PersistedQueryNotFound"},
		{"{nothing}", persistedAs(id("{nothing}")), "Cannot query"},
		{"", persistedAs(id("{nothing}")), "PersistedQueryNotFound"},
		{text, persistedAs(id("other")), "not that of the query"},
		{"", persistedAs(id("other")), "PersistedQueryNotFound"},
		{text, persistedAs(id(text)), ""},
		{"", persistedAs(id(text)), ""},
		{"", persistedAs(strings.ToUpper(id(text))), ""},
		{"", persistedAs("xyz"), "want version 1"},
		{"", map[string]any{"persistedQuery": 5}, "want version 1"},
		{"", map[string]any{"persistedQuery": map[string]any{"version": 2, "sha256Hash": id(text)}}, "want version 1"},
		{"", persistedAs(id("{ me { id } }")), ""},
		{"", persistedAs(id("{ me { id } }\n")), ""},
	} {
		params := &graphql.RawParams{Query: c.query, Extensions: c.extensions}
		document, errs := d.find(params)
		if c.wrong == "" && (document == nil || params.Query == "") || c.wrong != "" && (len(errs) != 1 || !strings.Contains(errs[0].Message, c.wrong)) {
			t.Errorf("%d: %q %v: %v, %v; want %q", i, c.query, c.extensions, document, errs, c.wrong)
		}
	}
}

// Where only registered documents are run, no other is, and none can be registered by asking.
func TestRegisteredOnly(t *testing.T) {
	const mine = "query mine { me { id } }"
	d, err := newDocuments(New(nil).Schema(), true, []Document{{"mine.graphql", mine + "\n"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		query, hash string
		runs        bool
	}{
		{mine, "", true}, {mine + "\n", "", true}, {"", id(mine), true}, {"", id(mine + "\n"), true}, {mine, id(mine), true},
		{mine + " ", "", false}, {"{__typename}", "", false}, {"{__typename}", id("{__typename}"), false}, {"", id("{__typename}"), false},
		{"{__schema{types{name}}}", "", false}, {strings.Repeat("{", 1<<20), "", false},
	} {
		params := &graphql.RawParams{Query: c.query}
		if c.hash != "" {
			params.Extensions = persistedAs(c.hash)
		}
		if document, errs := d.find(params); (document != nil) != c.runs || (len(errs) == 0) != c.runs {
			t.Errorf("%d: %.30q: %v, %v", i, c.query, document, errs)
		}
	}
	for name, text := range map[string]string{"bad": "{ nothing }", "empty": "", "large": "{" + strings.Repeat("__typename ", 500) + "}"} {
		if _, err := newDocuments(New(nil).Schema(), true, []Document{{name, text}}); err == nil || !strings.Contains(err.Error(), "the document "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No name of the schema is suggested.
func TestNoSuggestions(t *testing.T) {
	d, err := newDocuments(New(nil).Schema(), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"{ thinng(id: 1) { id } }", "{ thing(idd: 1) { id } }", "{ __schema { directive } }", "{ things(sort: POPULARR) { nodes { id } } }", "query ($a: Thingg) { __typename }",
		"{ me }", "{ me { ... on Userr { id } } }", "mutation { createThing(input: {naem: 1}) { thing { id } } }", "{ __typename @skipp }", "{ me { ...F } } fragment G on User { id }",
	} {
		_, errs := d.examine(text, new(effort))
		if len(errs) == 0 || strings.Contains(errs.Error(), "Did you mean") {
			t.Errorf("%s: %v", text, errs)
		}
	}
}

// The cache holds what was asked for last, up to its weight.
func TestCache(t *testing.T) {
	c := newCache[int](10)
	c.add("a", 1, 4)
	c.add("b", 2, 4)
	c.add("large", 3, 11)
	if _, ok := c.get("large"); ok {
		t.Error("what is over the limit alone is kept")
	}
	c.add("a", 5, 4)
	if v, ok := c.get("a"); v != 1 || !ok {
		t.Errorf("a: %d %v", v, ok)
	}
	c.add("c", 3, 4)
	if _, ok := c.get("b"); ok || c.weight != 8 || len(c.entries) != 2 || c.order.Len() != 2 {
		t.Errorf("the oldest is kept: weight %d, %d entries", c.weight, len(c.entries))
	}
	for i := range 10_000 {
		c.add(fmt.Sprint(i), i, 1+i%3)
	}
	if c.weight > 10 || len(c.entries) != c.order.Len() {
		t.Errorf("weight %d, %d entries, %d in order", c.weight, len(c.entries), c.order.Len())
	}
}
