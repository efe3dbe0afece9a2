package graph

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"

	"github.com/meshyard/meshyard/internal/graphqltest"
)

// However much a hostile document would cost, no more of it is looked at than the limits allow before it is let through or refused.
// (The time follows from that; the benchmark shows it.)
func TestEffortIsBounded(t *testing.T) {
	d, err := newDocuments(New(nil).Schema(), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	for _, request := range graphqltest.Requests() {
		if request.Raw != "" {
			continue
		}
		looked := new(effort)
		document, errs := d.examine(request.Query, looked)
		if (document == nil) == (len(errs) == 0) {
			t.Errorf("%s: got %v and errors %v", request.Name, document, errs)
		}
		// Fields are visited to be counted, and those that are within the limit once more, unfolded, to be compared.
		if looked.tokens > maxTokens+1 || looked.fields > maxTokens+maxFields || looked.comparisons > maxFields*maxFields/2 {
			t.Errorf("%s: %+v were looked at", request.Name, *looked)
		}
		if looked.comparisons > maxComparisons && len(errs) != 1 {
			t.Errorf("%s: %+v were looked at, and it is validated", request.Name, *looked)
		}
		looks++
	}
	if looks < 40 {
		t.Errorf("only %d documents were looked at", looks)
	}
}

// Each limit is one: what is at it passes, and what is over it is refused by that limit.
func TestLimits(t *testing.T) {
	d, err := newDocuments(New(nil).Schema(), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	times := strings.Repeat
	distinct := func(n int) (fields string) { // of which no two are compared
		for i := range n {
			fields += " a" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + ":__typename"
		}
		return fields
	}
	for name, c := range map[string]struct {
		document func(n int) string
		most     int
		words    string
	}{
		"bytes":   {func(n int) string { return "{__typename}" + times(" ", n-12) }, maxDocument, "bytes are"},
		"tokens":  {func(n int) string { return "{__typename}" + times("#\n", n-3) }, maxTokens, "tokens"},
		"a name":  {func(n int) string { return "{" + times("a", n) + ":__typename}" }, maxName, "of a name"},
		"nesting": {func(n int) string { return "{__typename @skip(if:" + times("[", n-2) + times("]", n-2) + ")}" }, maxNesting, "of brackets"},
		"fields":  {func(n int) string { return "{" + times(within(50), n/50) + within(n%50) + "}" }, maxFields, "fields, with"},
		"aliases": {func(n int) string { return "{" + distinct(n) + "}" }, maxAliases, "aliases"},
		"depth": {func(n int) string {
			return "{me" + times("{things{nodes{creator", (n-1)/3) + times("{id", 1) + times("}", 1+(n-1)/3*3) + "}"
		}, maxDepth, "levels are"},
		"directives":  {func(n int) string { return "{__typename " + times("...@skip(if:true){__typename}", n) + "}" }, maxDirectives, "directives are"},
		"together":    {func(n int) string { return "{__typename " + times("@skip(if:true)", n) + "}" }, maxTogether, "in one place"},
		"comparisons": {func(n int) string { return "{" + times("__typename ", n) + "}" }, 63, "comparisons"},
	} {
		refused := func(n int) bool {
			_, errs := d.examine(c.document(n), new(effort))
			return len(errs) == 1 && strings.Contains(errs[0].Message, c.words)
		}
		step := 1
		if name == "depth" {
			step = 3
		}
		if refused(c.most) || !refused(c.most+step) {
			t.Errorf("%s: %d are refused: %v; %d are refused: %v", name, c.most, refused(c.most), c.most+step, refused(c.most+step))
		}
	}
}

// within is a field in so many fragments that they are n together.
func within(n int) string {
	if n == 0 {
		return ""
	}
	return strings.Repeat("...{", n-1) + "__typename" + strings.Repeat("}", n-1) + " "
}

// JSON is held to its limits before it is decoded.
func TestOverfull(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":["x,[{",1]}`: false, `"\"[[[[[[[["`: false,
		strings.Repeat("[", maxLevels) + strings.Repeat("]", maxLevels):     false,
		strings.Repeat("[", maxLevels+1) + strings.Repeat("]", maxLevels+1): true,
		"[" + strings.Repeat("0,", maxValues-2) + "0]":                      false,
		"[" + strings.Repeat("0,", maxValues-1) + "0]":                      true,
	} {
		if got := overfull([]byte(text)); got != want {
			t.Errorf("%.40s, %d bytes: %v, want %v", text, len(text), got, want)
		}
	}
}

// Whatever text comes, it is a document within the limits or refused, with no panic and in bounded effort.
func FuzzDocument(f *testing.F) {
	d, err := newDocuments(New(nil).Schema(), false, nil)
	if err != nil {
		f.Fatal(err)
	}
	costing, err := newCosting(New(nil).schema)
	if err != nil {
		f.Fatal(err)
	}
	for _, request := range graphqltest.Requests() {
		if len(request.Query) < 1_000 && request.Raw == "" {
			f.Add(request.Query, request.Variables)
		}
	}
	f.Add(`query q($n: ID!, $f: Int = 3) { thing(id: $n) { id files(first: $f) { name } } }`, `{"n": 5}`)
	f.Fuzz(func(t *testing.T, text, variables string) {
		looked := new(effort)
		document, errs := d.examine(text, looked)
		if looked.tokens > maxTokens+1 || looked.fields > maxTokens+maxFields {
			t.Errorf("%+v were looked at", *looked)
		}
		if len(errs) > 0 {
			return
		}
		params := &graphql.RawParams{Query: text}
		if json.Unmarshal([]byte(variables), &params.Variables) != nil {
			params.Variables = nil
		}
		exec := executor.New(costing.schema)
		exec.SetQueryCache(OneDocument{document})
		op, errs := exec.CreateOperationContext(graphql.StartOperationTrace(t.Context()), &graphql.RawParams{Variables: params.Variables})
		if len(errs) == 0 {
			if cost := costing.of(t.Context(), op); cost < 0 {
				t.Errorf("it costs %d", cost)
			}
		}
	})
}
