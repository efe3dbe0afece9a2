package search_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestRandomThingsAreEnough checks that randomThings returns as many things as requested if there
// are enough, even if there is a large gap between their IDs, and that their order varies.
func TestRandomThingsAreEnough(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		db := servertest.OpenDB(t, s).SQL()
		copyThings(t, db, w.Thing, 1_001, 60)
		copyThings(t, db, 1_001, 900_001, 60)
		random := func(c *servertest.Client, first int) (ids []string) {
			var data struct{ RandomThings []struct{ ID string } }
			c.Query(fmt.Sprintf(`{ randomThings(first: %d) { id } }`, first), nil, &data)
			for _, thing := range data.RandomThings {
				ids = append(ids, thing.ID)
			}
			return ids
		}
		var last []string
		for _, first := range []int{1, 30, 100, 100, 100} {
			ids := random(w.Bob, first)
			if slices.Equal(ids, last) {
				t.Errorf("twice the same things: %v", ids)
			}
			last = slices.Clone(ids)
			slices.Sort(ids)
			if len(ids) != first || len(slices.Compact(ids)) != first {
				t.Errorf("got %d of %d things", len(slices.Compact(ids)), first)
			}
		}
		if _, err := db.Exec("UPDATE things SET is_nsfw = (1 = 1) WHERE id > 1010"); err != nil {
			t.Fatal(err)
		}
		w.Bob.Query(`mutation { updateProfile(input: {isNsfwHidden: true}) { user { id } } }`, nil, new(any))
		if ids := random(w.Bob, 100); len(ids) != 11 {
			t.Errorf("got %d of 11 things that are not hidden", len(ids))
		}
	})
}

// copyThings inserts n copies of a thing, with IDs from first on. The database computes the column
// sort_name.
func copyThings(t *testing.T, db *sql.DB, id, first int64, n int) {
	t.Helper()
	rows, err := db.Query("SELECT * FROM things WHERE 1 = 0")
	if err != nil {
		t.Fatal(err)
	}
	columns, err := rows.Columns()
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	columns = slices.DeleteFunc(columns, func(name string) bool { return name == "id" || name == "sort_name" })
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("(%d)", first+int64(i))
	}
	_, err = db.Exec(fmt.Sprintf(
		"INSERT INTO things (id, %s) SELECT v.column1, t.%s FROM things AS t, (VALUES %s) AS v WHERE t.id = %d",
		strings.Join(columns, ", "), strings.Join(columns, ", t."), strings.Join(ids, ", "), id))
	if err != nil {
		t.Fatal(err)
	}
}

// TestSuggestionsHide checks that suggestions contain no names of things that the caller has chosen
// to hide.
func TestSuggestionsHide(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		suggestions := func() string {
			return string(w.Bob.GraphQL(`{ suggestions(query: "publ") }`, nil).Data)
		}
		if got := suggestions(); got != `{"suggestions":["Public"]}` {
			t.Fatalf("got %s", got)
		}
		w.Ada.Query(`mutation ($id: ID!) { updateThing(input: {id: $id, isNsfw: true, isAiGenerated: true}) { thing { id } } }`, servertest.Object{"id": servertest.ID(w.Thing)}, new(any))
		for _, preference := range []string{"isNsfwHidden: true", "isNsfwHidden: false, isAiGeneratedHidden: true"} {
			w.Bob.Query(`mutation { updateProfile(input: {`+preference+`}) { user { id } } }`, nil, new(any))
			if got := suggestions(); got != `{"suggestions":[]}` {
				t.Errorf("with %s: got %s", preference, got)
			}
		}
	})
}

// TestTagsOfUnpublishedThings checks that a tag is not listed any more as soon as its last thing is
// unpublished, before its count is folded.
func TestTagsOfUnpublishedThings(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		variables := servertest.Object{"id": servertest.ID(w.Thing)}
		w.Ada.Query(`mutation ($id: ID!) { updateThing(input: {id: $id, tags: ["solitary"]}) { thing { id } } }`, variables,
			new(any))
		for range 5 { // folding may run at any time
			for _, c := range []struct{ mutation, want string }{
				{"unpublishThing", `{"tags":{"nodes":[]}}`},
				{"publishThing", `{"tags":{"nodes":[{"name":"solitary","thingCount":1}]}}`},
			} {
				w.Ada.Query(`mutation ($id: ID!) { `+c.mutation+`(input: {id: $id}) { thing { id } } }`, variables, new(any))
				if got := string(w.Bob.GraphQL(`{ tags(prefix: "solit") { nodes { name thingCount } } }`, nil).
					Data); got != c.want {
					t.Errorf("after %s: got %s, want %s", c.mutation, got, c.want)
				}
			}
		}
	})
}
