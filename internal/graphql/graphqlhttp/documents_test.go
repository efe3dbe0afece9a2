package graphqlhttp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
)

func persistedQuery(hash string) map[string]any {
	return map[string]any{"persistedQuery": map[string]any{"version": 1, "sha256Hash": hash}}
}

// An automatic persisted query is known by its hash once it has been sent with its text.
func TestAutomaticPersistedQueries(t *testing.T) {
	d, err := newDocuments(testSchema(t).Schema(), false, []Document{{"mine", "{ me { id } }\n"}})
	if err != nil {
		t.Fatal(err)
	}
	const text = "{__typename}"
	for i, c := range []struct {
		query      string
		extensions map[string]any
		wrong      string
	}{
		{"", persistedQuery(documentID(text)), "PersistedQueryNotFound"},
		{"{nothing}", persistedQuery(documentID("{nothing}")), "Cannot query"},
		{"", persistedQuery(documentID("{nothing}")), "PersistedQueryNotFound"},
		{text, persistedQuery(documentID("other")), "does not match the query"},
		{"", persistedQuery(documentID("other")), "PersistedQueryNotFound"},
		{text, persistedQuery(documentID(text)), ""},
		{"", persistedQuery(documentID(text)), ""},
		{"", persistedQuery(strings.ToUpper(documentID(text))), ""},
		{"", persistedQuery("xyz"), "must have version 1"},
		{"", map[string]any{"persistedQuery": 5}, "must have version 1"},
		{"", map[string]any{"persistedQuery": map[string]any{"version": 2, "sha256Hash": documentID(text)}},
			"must have version 1"},
		{"", persistedQuery(documentID("{ me { id } }")), ""},
		{"", persistedQuery(documentID("{ me { id } }\n")), ""},
	} {
		params := &graphql.RawParams{Query: c.query, Extensions: c.extensions}
		document, errs := d.find(params)
		if c.wrong == "" && (document == nil || params.Query == "") || c.wrong != "" &&
			(len(errs) != 1 || !strings.Contains(errs[0].Message, c.wrong)) {
			t.Errorf("%d: %q %v: %v, %v; want %q", i, c.query, c.extensions, document, errs, c.wrong)
		}
	}
}

// A hardened server runs registered documents only, and clients cannot register any.
func TestRegisteredOnly(t *testing.T) {
	const mine = "query mine { me { id } }"
	d, err := newDocuments(testSchema(t).Schema(), true, []Document{{"mine.graphql", mine + "\n"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		query, hash string
		runs        bool
	}{
		{mine, "", true}, {mine + "\n", "", true}, {"", documentID(mine), true}, {"", documentID(mine + "\n"), true},
		{mine, documentID(mine), true},
		{mine + " ", "", true}, {"\n\t" + mine + "\r\n", "", true}, {strings.Replace(mine, " ", "  ", 1), "", false},
		{"{__typename}", "", false}, {"{__typename}", documentID("{__typename}"), false},
		{"", documentID("{__typename}"), false},
		{"{__schema{types{name}}}", "", false}, {strings.Repeat("{", 1<<20), "", false},
	} {
		params := &graphql.RawParams{Query: c.query}
		if c.hash != "" {
			params.Extensions = persistedQuery(c.hash)
		}
		if document, errs := d.find(params); (document != nil) != c.runs || (len(errs) == 0) != c.runs {
			t.Errorf("%d: %.30q: %v, %v", i, c.query, document, errs)
		}
	}
	for name, text := range map[string]string{"bad": "{ nothing }", "empty": "", "large": "{" +
		strings.Repeat("__typename ", 500) + "}"} {
		if _, err := newDocuments(testSchema(t).Schema(), true, []Document{{name, text}}); err == nil ||
			!strings.Contains(err.Error(), "document "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Validation errors do not suggest names of the schema.
func TestNoSuggestionsWhenHardened(t *testing.T) {
	d, err := newDocuments(testSchema(t).Schema(), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"{ thinng(id: 1) { id } }", "{ thing(idd: 1) { id } }", "{ __schema { directive } }",
		"{ things(sort: POPULARR) { nodes { id } } }", "query ($a: Thingg) { __typename }",
		"{ me }", "{ me { ... on Userr { id } } }", "mutation { createThing(input: {naem: 1}) { thing { id } } }",
		"{ __typename @skipp }", "{ me { ...F } } fragment G on User { id }",
	} {
		_, errs := d.parse(text, new(documentStats))
		if len(errs) == 0 || strings.Contains(errs.Error(), "Did you mean") {
			t.Errorf("%s: %v", text, errs)
		}
	}
}

// The cache evicts the least recently used entries above its weight limit.
func TestCache(t *testing.T) {
	c := newCache[int](10)
	c.add("a", 1, 4)
	c.add("b", 2, 4)
	c.add("large", 3, 11)
	if _, ok := c.get("large"); ok {
		t.Error("an entry above the limit was stored")
	}
	c.add("a", 5, 4)
	if v, ok := c.get("a"); v != 1 || !ok {
		t.Errorf("a: %d %v", v, ok)
	}
	c.add("c", 3, 4)
	if _, ok := c.get("b"); ok || c.weight != 8 || len(c.entries) != 2 || c.order.Len() != 2 {
		t.Errorf("the least recently used entry was kept: weight %d, %d entries", c.weight, len(c.entries))
	}
	for i := range 10_000 {
		c.add(fmt.Sprint(i), i, 1+i%3)
	}
	if c.weight > 10 || len(c.entries) != c.order.Len() {
		t.Errorf("weight %d, %d entries, %d in order", c.weight, len(c.entries), c.order.Len())
	}
}

func TestSuggestions(t *testing.T) {
	d, err := newDocuments(testSchema(t).Schema(), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text    string
		suggest bool
	}{
		{"{ thinng(id: 1) { id } }", true},
		{"{ thing(idd: 1) { id } }", true},
		// too many to compute
		{"{" + strings.Repeat(" thinng(id: 1) { id }", maxSuggestions+1) + " }", false},
	} {
		_, errs := d.parse(c.text, new(documentStats))
		if len(errs) == 0 || strings.Contains(errs.Error(), "Did you mean") != c.suggest {
			t.Errorf("%s: got %v, want suggestions: %t", c.text, errs, c.suggest)
		}
	}
}
