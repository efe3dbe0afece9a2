package graph

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/introspection"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/models"
)

// costOf returns the cost of a valid document with one operation.
func costOf(t *testing.T, text string, variables map[string]any) int {
	t.Helper()
	return costsOf(t, text, variables)[0]
}

// costsOf returns the cost of an operation with each of the variable sets, in order.
func costsOf(t *testing.T, text string, variables ...map[string]any) (got []int) {
	t.Helper()
	g := New(nil)
	costs, err := graphqlhttp.NewCostCalculator(g.Schema(), fieldCost)
	if err != nil {
		t.Fatal(err)
	}
	document, errs := gqlparser.LoadQueryWithRules(g.Schema(), text, rules.NewDefaultRules())
	if len(errs) > 0 {
		t.Fatalf("%.100s: %v", text, errs)
	}
	exec := executor.New(g.schema)
	exec.SetQueryCache(graphqlhttp.SingleDocument{Document: document})
	ctx := graphql.StartOperationTrace(t.Context())
	for _, v := range variables {
		op, errs := exec.CreateOperationContext(ctx, &graphql.RawParams{Variables: v})
		if len(errs) > 0 {
			t.Fatalf("%.100s: %v", text, errs)
		}
		got = append(got, costs.Of(op))
	}
	return got
}

// TestCostsOfVariables checks that the cached cost of an operation does not depend on the variables
// of its first request, wherever they are used in the operation.
func TestCostsOfVariables(t *testing.T) {
	few, many := map[string]any{"n": 1}, map[string]any{"n": 100}
	for _, text := range []string{
		"query ($n: Int!) { newest: things(first: $n) { nodes { id tags { name } } } popular: things { nodes { id } } }",
		"query ($n: Int!) { things(first: 20) { nodes { name comments(first: $n) { nodes { id } } creator { username } } } }",
		"query ($n: Int!) { things(first: 20) { ...page } } fragment page on ThingConnection { nodes { ... on Thing { makes(first: $n) { nodes { id } } } } }",
	} {
		together := costsOf(t, text, few, many, few, many)
		want := []int{costOf(t, text, few), costOf(t, text, many)}
		if want = append(want, want...); !slices.Equal(together, want) || want[0] >= want[1] {
			t.Errorf("%s: costs %v, want %v", text, together, want)
		}
	}
}

// TestConnectionCosts checks that every connection costs as much as its longest page. A connection
// with the default cost would bypass the limit.
func TestConnectionCosts(t *testing.T) {
	connections := 0
	for _, definition := range New(nil).Schema().Types {
		for _, field := range definition.Fields {
			if !strings.HasSuffix(field.Type.Name(), "Connection") {
				continue
			}
			connections++
			name := definition.Name + "." + field.Name
			for _, c := range []struct {
				arguments map[string]any
				want      int
			}{
				{nil, 30},
				{map[string]any{"first": int64(100)}, 100},
				{map[string]any{"last": int64(100)}, 100},
				{map[string]any{"first": int64(-5)}, 1},
			} {
				if got := fieldCost(name, c.arguments); got.Entries != c.want || got.Own < connectionCost || got.Once {
					t.Errorf("%s%v: got %+v, want %d entries", name, c.arguments, got, c.want)
				}
			}
		}
	}
	if connections < 20 {
		t.Errorf("only %d connections found", connections)
	}
}

// otherLists are the lists without @listSize, with the reason.
var otherLists = map[string]string{
	"AccessToken.scopes":                   "one for each scope",
	"Application.redirectUris":             "texts, at most 20",
	"CompleteStagedUploadsPayload.uploads": "Mutation.completeStagedUploads is charged for them",
	"CreateStagedUploadsPayload.uploads":   "Mutation.createStagedUploads is charged for them",
	"DeleteCollectionPayload.thingIds":     "IDs, with a @cost",
	"EndSessionsPayload.endedIds":          "IDs from the input, or of at most 100 sessions",
	"FinalizeFilesPayload.files":           "Mutation.finalizeFiles is charged for them",
	"Highlight.parts":                      "short: an excerpt",
	"MoveThingsPayload.thingIds":           "IDs from the input",
	"Query.nodes":                          "a case of fieldCost",
	"Query.suggestions":                    "texts, at most 10",
	"RemoveThingsPayload.thingIds":         "IDs from the input",
	"SearchFacets.categories":              "SearchConnection.facets is charged for them",
	"SearchFacets.creators":                "SearchConnection.facets is charged for them",
	"SearchFacets.formats":                 "SearchConnection.facets is charged for them",
	"SearchFacets.licenses":                "SearchConnection.facets is charged for them",
	"SearchFacets.tags":                    "SearchConnection.facets is charged for them",
	"StagedUpload.formFields":              "the same few for every upload",
	"UndoThingsUpdatePayload.results":      "Mutation.undoThingsUpdate is charged for them",
	"UpdateThingsPayload.results":          "Mutation.updateThings is charged for them",
	"User.collectedThingIds":               "IDs, with a @cost",
	"User.likedThingIds":                   "IDs, with a @cost",
	"Webhook.events":                       "one for each kind of event",
}

// TestListLengths checks that every list of the schema has @listSize, is in a connection or is in
// otherLists, and that all of these fields are lists. Without it, a list would cost as much as one
// entry, and so bypass the cost limit.
func TestListLengths(t *testing.T) {
	lists, costs := make(map[string]bool), publicSchema().costs
	for _, definition := range New(nil).Schema().Types {
		if definition.Kind == ast.InputObject || strings.HasPrefix(definition.Name, "__") {
			continue // the costs of introspection are computed elsewhere
		}
		for _, field := range definition.Fields {
			name := definition.Name + "." + field.Name
			declared := costs[name]
			for _, slicing := range declared.slicing {
				if field.Arguments.ForName(slicing) == nil {
					t.Errorf("the list %s has no argument %s", name, slicing)
				}
			}
			if field.Type.Elem == nil || strings.HasSuffix(definition.Name, "Connection") {
				continue
			}
			lists[name] = true
			switch {
			case declared.length > models.MaxFiles:
				t.Errorf("the list %s has up to %d entries, but is charged for at most %d", name, declared.length, models.MaxFiles)
			case declared.length == 0 && otherLists[name] == "":
				t.Errorf("the list %s has no @listSize", name)
			case declared.length > 0 && otherLists[name] != "":
				t.Errorf("the list %s has @listSize and is in otherLists", name)
			}
		}
	}
	for name := range otherLists {
		if !lists[name] {
			t.Errorf("the schema has no list %s", name)
		}
	}
	for name, declared := range costs {
		if declared.length > 0 && !lists[name] {
			t.Errorf("%s has @listSize, but is no list", name)
		}
	}
}

// TestCost checks that a list costs as much as its maximum length, whether the length is a literal,
// a variable or a default.
func TestCost(t *testing.T) {
	for text, want := range map[string]int{
		"{__typename}": 1, "{me{id}}": 11,
		"{things(first:10){nodes{id}}}":                 11 + 10*2,
		"query($n:Int){things(first:$n){nodes{id}}}":    11 + 50*2,
		"query($m:Int=20){things(first:$m){nodes{id}}}": 11 + 20*2,
		"{things(first:10){nodes{creator{things{nodes{id}}}}}}": 11 +
			10*(1+1+11+30*2),
		"{things(first:10){...F}} fragment F on ThingConnection{nodes{id}}": 11 + 10*2,
		"{things(first:10){totalCount pageInfo{endCursor} nodes{id}}}": 11 + 60 +
			2 + 10*2,
		"{things(first:10,after:\"page:101\",filter:{isWip:true}){nodes{id}}}": 11 +
			101*10/70 + 500 + 10*2,
		"{things(first:10,filter:{formats:[STL]}){nodes{id}}}": 11 + 500 +
			2000 + 10*2,
		`{search(query:"small lamp",first:10){nodes{__typename}}}`: 211 +
			10*2,
		`{search(first:10){facets(first:5){tags{count}} totalCount}}`: 11 +
			4_000 + 5*2 + 300,
		`{search(first:10){edges{highlights{field}}}}`: 11 +
			10*(1+5+22),
		`mutation{finalizeFiles(input:{files:[{id:1},{id:2}],target:{type:THING,id:1}}){files{id}}}`: 1 +
			64 + 2*2,
		`mutation($f:[PendingUploadInput!]!){finalizeFiles(input:{files:$f,target:{type:THING,id:1}}){files{id}}}`: 1 +
			65 + 3*2,
		`mutation($i:FinalizeFilesInput!){finalizeFiles(input:$i){files{id}}}`:               1 + 66 + 4*2,
		`mutation{reorderFiles(input:{fileIds:[1],target:{type:THING,id:1}}){files{id}}}`:    1 + 63 + 1 + 1_000,
		`mutation{reorderImages(input:{imageIds:[1],target:{type:THING,id:1}}){images{id}}}`: 1 + 63 + 1 + 1_000,
		`mutation{recordDownload(input:{fileId:1}){__typename}}`:                             1_000 + 61 + 1,
		`mutation{pingWebhook(input:{id:1}){__typename}}`:                                    1_000 + 61 + 1,
		`mutation{sendToPrinter(input:{printerId:1,fileId:1}){__typename}}`:                  1_000 + 62 + 1,
		`mutation{likeThing(input:{id:1}){__typename}}`:                                      1 + 61 + 1,
		`mutation($c:CreateCommentInput!){createComment(input:$c){comment{id}}}`:             1 + 60 + 65_535*4/40 + 2 + 2,
		`mutation($t:String!){updateProfile(input:{bio:$t}){__typename}}`:                    1 + 60 + 20_000/40 + 1,
	} {
		upload := map[string]any{"id": 1}
		variables := map[string]any{
			"n": 50, "f": []any{upload, upload, upload}, "t": strings.Repeat("a", 20_000),
			"c": map[string]any{"body": strings.Repeat("\U0001F98A", 65_535), "target": map[string]any{"type": "THING",
				"id": 1}},
			"i": map[string]any{"files": []any{upload, upload, upload, upload}, "target": map[string]any{"type": "THING",
				"id": 1}},
		}
		if got := costOf(t, text, variables); got != want {
			t.Errorf("%s costs %d, want %d", text, got, want)
		}
	}
}

// TestCostOfIntrospection checks that a request can read the complete schema once, as tools do, but
// not ten times.
func TestCostOfIntrospection(t *testing.T) {
	// The longest getIntrospectionQuery of graphql-js 16.
	whole, err := os.ReadFile("../internal/graphql/graphqlhttp/testdata/introspection.graphql")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"gqlgen": introspection.Query, "graphql-js": string(whole)} {
		if got := costOf(t, text, nil); got > graphqlhttp.MaxCost || got < graphqlhttp.MaxCost/2 {
			t.Errorf("%s: reading the schema costs %d of %d", name, got, graphqlhttp.MaxCost)
		}
	}
	again := "{__schema{types{"
	for i := range 10 {
		again += fmt.Sprintf("a%d:fields{name description type{kind name ofType{kind name ofType{kind name}}}}", i)
	}
	if got := costOf(t, again+"}}}", nil); got <= graphqlhttp.MaxCost {
		t.Errorf("reading all fields ten times costs %d of %d", got, graphqlhttp.MaxCost)
	}
}
