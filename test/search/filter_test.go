package search_test

import (
	"fmt"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestFiltersByID checks that null adds no condition to a filter by ID, that an ID that no object
// has, such as 0, finds nothing, and that callers find what is in their own private collections.
func TestFiltersByID(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		thing := w.Thing
		total := func(c *servertest.Client, document string, variables servertest.Object) int {
			t.Helper()
			var data map[string]struct{ TotalCount int }
			c.Query(document, variables, &data)
			return data["list"].TotalCount
		}
		for _, list := range []struct {
			field, filter string
			names         []string
		}{
			{`things(filter: %s)`, "ThingFilter", []string{"likedById", "madeById", "collectedById"}},
			{`search(type: THINGS, filter: %s)`, "SearchFilter", []string{"likedById", "madeById", "collectedById"}},
			{`search(type: MAKES, filter: %s)`, "SearchFilter", []string{"thingId"}},
		} {
			all := total(w.Bob, `{ list: `+fmt.Sprintf(list.field, "{}")+` { totalCount } }`, nil)
			if all == 0 && list.names[0] != "thingId" {
				t.Fatalf("%s finds nothing", list.field)
			}
			whole := `query ($f: ` + list.filter + `) { list: ` + fmt.Sprintf(list.field, "$f") + ` { totalCount } }`
			for _, name := range list.names {
				part := `query ($id: ID) { list: ` + fmt.Sprintf(list.field, "{"+name+": $id}") + ` { totalCount } }`
				literal := `{ list: ` + fmt.Sprintf(list.field, "{"+name+": null}") + ` { totalCount } }`
				for form, got := range map[string]int{
					"in a variable for the filter": total(w.Bob, whole, servertest.Object{"f": servertest.Object{name: nil}}),
					"in a variable":                total(w.Bob, part, servertest.Object{"id": nil}),
					"as an omitted variable":       total(w.Bob, part, nil),
					"as a literal":                 total(w.Bob, literal, nil),
				} {
					if got != all {
						t.Errorf("%s: null for %s %s finds %d, want %d", list.field, name, form, got, all)
					}
				}
				if got := total(w.Bob, part, servertest.Object{"id": "0"}); got != 0 {
					t.Errorf("%s: 0 for %s finds %d", list.field, name, got)
				}
			}
		}
		var created struct {
			CreateCollection struct{ Collection struct{ ID string } }
		}
		w.Bob.Query(`mutation { createCollection(input: {name: "Secret", visibility: PRIVATE}) { collection { id } } }`, nil,
			&created)
		w.Bob.Query(`mutation ($c: ID!, $t: ID!) { addToCollection(input: {collectionId: $c, thingId: $t}) { collection { id } } }`,
			servertest.Object{"c": created.CreateCollection.Collection.ID, "t": servertest.ID(thing)}, new(any))
		var me struct{ Me struct{ ID string } }
		w.Bob.Query(`{ me { id } }`, nil, &me)
		for _, field := range []string{`things(filter: {collectedById: $id})`,
			`search(type: THINGS, filter: {collectedById: $id})`} {
			document := `query ($id: ID!) { list: ` + field + ` { totalCount } }`
			if got := total(w.Bob, document, servertest.Object{"id": me.Me.ID}); got != 1 {
				t.Errorf("%s finds %d things in the caller's private collections, want 1", field, got)
			}
			if got := total(w.Ada, document, servertest.Object{"id": me.Me.ID}); got != 0 {
				t.Errorf("%s finds %d things in the private collections of another user", field, got)
			}
		}
	})
}
