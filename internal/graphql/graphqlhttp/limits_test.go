package graphqlhttp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"

	"github.com/meshyard/meshyard/internal/graphql/graphqltest"
)

// TestEffortIsBounded checks that no more of a malicious document is inspected than the limits
// allow before it is accepted or refused. (The time follows from that; the benchmark measures it.)
func TestEffortIsBounded(t *testing.T) {
	d, err := newDocuments(testSchema(t).Schema(), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	inspected := 0
	for _, request := range graphqltest.Requests() {
		if request.Raw != "" {
			continue
		}
		stats := new(documentStats)
		document, errs := d.parse(request.Query, stats)
		if (document == nil) == (len(errs) == 0) {
			t.Errorf("%s: got %v and errors %v", request.Name, document, errs)
		}
		// Fields are visited once to be counted and, if within the limit, once more when expanded.
		if stats.tokens > maxTokens+1 || stats.fields > maxTokens+maxFields || stats.comparisons > maxFields*maxFields/2 {
			t.Errorf("%s: %+v inspected", request.Name, *stats)
		}
		if stats.comparisons > maxComparisons && len(errs) != 1 {
			t.Errorf("%s: %+v inspected, and the document was validated", request.Name, *stats)
		}
		inspected++
	}
	if inspected < 40 {
		t.Errorf("only %d documents were inspected", inspected)
	}
}

// A document at a limit is accepted, and one above it is refused with the name of the limit.
func TestLimits(t *testing.T) {
	d, err := newDocuments(testSchema(t).Schema(), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	times := strings.Repeat
	distinct := func(n int) (fields string) { // no two of which are compared
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
		"bytes":  {func(n int) string { return "{__typename}" + times(" ", n-12) }, maxDocumentBytes, "bytes"},
		"tokens": {func(n int) string { return "{__typename}" + times("#\n", n-3) }, maxTokens, "tokens"},
		"a name": {func(n int) string { return "{" + times("a", n) + ":__typename}" }, maxNameBytes, "bytes per name"},
		"nesting": {func(n int) string { return "{__typename @skip(if:" + times("[", n-2) + times("]", n-2) + ")}" },
			maxNesting, "levels of brackets"},
		"fields": {func(n int) string { return "{" + times(nested(50), n/50) + nested(n%50) + "}" }, maxFields,
			"fields with all"},
		"aliases": {func(n int) string { return "{" + distinct(n) + "}" }, maxAliases, "aliases"},
		"depth": {func(n int) string {
			return "{me" + times("{things{nodes{creator", (n-1)/3) + times("{id", 1) + times("}", 1+(n-1)/3*3) + "}"
		}, maxDepth, "levels of fields"},
		"directives": {func(n int) string { return "{__typename " + times("...@skip(if:true){__typename}", n) + "}" },
			maxDirectives, "50 directives"},
		"together": {func(n int) string { return "{__typename " + times("@skip(if:true)", n) + "}" },
			maxDirectivesOnOneNode, "on one node"},
		"comparisons": {func(n int) string { return "{" + times("__typename ", n) + "}" }, 63, "comparisons"},
	} {
		refused := func(n int) bool {
			_, errs := d.parse(c.document(n), new(documentStats))
			return len(errs) == 1 && strings.Contains(errs[0].Message, c.words)
		}
		step := 1
		if name == "depth" {
			step = 3
		}
		if refused(c.most) || !refused(c.most+step) {
			t.Errorf("%s: %d are refused: %v; %d are refused: %v", name, c.most, refused(c.most), c.most+step,
				refused(c.most+step))
		}
	}
}

// nested returns a field inside n-1 inline fragments, which counts as n fields.
func nested(n int) string {
	if n == 0 {
		return ""
	}
	return strings.Repeat("...{", n-1) + "__typename" + strings.Repeat("}", n-1) + " "
}

// Any text is accepted within the limits or refused, without a panic.
func FuzzDocument(f *testing.F) {
	d, err := newDocuments(testSchema(f).Schema(), false, nil)
	if err != nil {
		f.Fatal(err)
	}
	costs, err := NewCostCalculator(testSchema(f).Schema(), func(string, map[string]any) Cost { return Cost{Own: 1} })
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
		stats := new(documentStats)
		document, errs := d.parse(text, stats)
		if stats.tokens > maxTokens+1 || stats.fields > maxTokens+maxFields {
			t.Errorf("%+v inspected", *stats)
		}
		if len(errs) > 0 {
			return
		}
		params := &graphql.RawParams{Query: text}
		if json.Unmarshal([]byte(variables), &params.Variables) != nil {
			params.Variables = nil
		}
		exec := executor.New(testSchema(t))
		exec.SetQueryCache(SingleDocument{document})
		op, errs := exec.CreateOperationContext(graphql.StartOperationTrace(t.Context()),
			&graphql.RawParams{Variables: params.Variables})
		if len(errs) == 0 {
			if cost := costs.Of(op); cost < 0 {
				t.Errorf("it costs %d", cost)
			}
		}
	})
}
