package graph

import (
	"fmt"
	"os"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/introspection"
)

// costOf gives the cost of a document of one operation, which must be valid.
func costOf(t *testing.T, text string, variables map[string]any) int {
	t.Helper()
	g := New(nil)
	d, err := newDocuments(g.Schema(), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCosting(g.schema)
	if err != nil {
		t.Fatal(err)
	}
	document, errs := d.examine(text, new(effort))
	if len(errs) > 0 {
		t.Fatalf("%.100s: %v", text, errs)
	}
	exec := executor.New(g.schema)
	exec.SetQueryCache(OneDocument{document})
	ctx := graphql.StartOperationTrace(t.Context())
	op, errs := exec.CreateOperationContext(ctx, &graphql.RawParams{Variables: variables})
	if len(errs) > 0 {
		t.Fatalf("%.100s: %v", text, errs)
	}
	return c.of(ctx, op)
}

// Lists cost what they may hold, wherever their lengths are written.
func TestCost(t *testing.T) {
	for text, want := range map[string]int{
		"{__typename}": 1, "{me{id}}": 2,
		"{things(first:10){nodes{id}}}":                                     1 + 10*(1+1),
		"query($n:Int){things(first:$n){nodes{id}}}":                        1 + 50*(1+1),
		"query($m:Int=20){things(first:$m){nodes{id}}}":                     1 + 20*(1+1),
		"{things(first:10){nodes{creator{things{nodes{id}}}}}}":             1 + 10*(1+1+1+30*2),
		"{things(first:10){...F}} fragment F on ThingConnection{nodes{id}}": 1 + 10*(1+1),
	} {
		if got := costOf(t, text, map[string]any{"n": 50}); got != want {
			t.Errorf("%s costs %d, want %d", text, got, want)
		}
	}
}

// The whole schema may be read, in the ways in which programs do, and not more than that.
func TestCostOfIntrospection(t *testing.T) {
	whole, err := os.ReadFile("testdata/introspection.graphql") // all that getIntrospectionQuery of graphql-js 16 can ask for
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"gqlgen": introspection.Query, "graphql-js": string(whole)} {
		if got := costOf(t, text, nil); got > maxCost || got < maxCost/2 {
			t.Errorf("%s: reading the schema costs %d of %d", name, got, maxCost)
		}
	}
	again := "{__schema{types{"
	for i := range 10 {
		again += fmt.Sprintf("a%d:fields{name description type{kind name ofType{kind name ofType{kind name}}}}", i)
	}
	if got := costOf(t, again+"}}}", nil); got <= maxCost {
		t.Errorf("reading all fields ten times costs %d of %d", got, maxCost)
	}
}
