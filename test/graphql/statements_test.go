package graphql_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestStatementCounts checks that the number of statements for a list does not depend on the length
// of the list.
func TestStatementCounts(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		costOf := func(document string) int64 {
			return cost(t, s, w.Ada, document, "", "")
		}
		const list = `{ me { downloads(first: 50) { totalCount nodes { thing { name creator { username thingCount } category { name } tags { name } files { name creator { username } } fileCount }
			file { name creator { username } target { ... on Thing { id } } } } edges { node { file { creator { username makeCount } } } } } downloadedThings { nodes { id files { id } } } } }`
		grow := func(n int) {
			for i := range n {
				thing, file := w.Ada.Thing(fmt.Sprint("T", i)), w.Ada.Upload("a.stl", fmt.Append(nil, "solid", i))
				w.Ada.Finalize("thing", thing, file).Want(t, 200)
				w.Ada.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, 302)
			}
		}
		grow(2)
		few := costOf(list)
		grow(20)
		if many := costOf(list); many != few || few == 0 {
			t.Errorf("22 downloads cost %d statements, 2 cost %d", many, few)
		}
	})
}

// TestCreatorsOfThings checks that the creators of things take one statement, and none if only
// their IDs are selected.
func TestCreatorsOfThings(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		of := make(map[int64]string)
		publish := func(c *servertest.Client, username string) {
			thing := c.Thing("box")
			c.Finalize("thing", thing, c.Upload("box.stl", fmt.Append(nil, "solid", thing))).Want(t, 200)
			c.Publish(thing).Want(t, 200)
			of[thing] = username
		}
		for range 3 {
			publish(ada, "ada")
			publish(bob, "bob")
		}
		for _, list := range []string{
			"things(first: 30) { nodes { %s } }",
			fmt.Sprintf("thing(id: %d) { %%s }", slices.Min(slices.Collect(maps.Keys(of)))),
			`search(query: "box", first: 30) { nodes { ... on Thing { %s } } }`,
		} {
			document := func(fields string) string { return "{ " + fmt.Sprintf(list, fields) + " }" }
			without := cost(t, s, ada, document("id"), "", "")
			if with := cost(t, s, ada, document("id creator { id username firstName role }"), "", ""); with != without+1 {
				t.Errorf("%s: %d statements with the creators, want %d", list, with, without+1)
			}
			if with := cost(t, s, ada, document("id creator { id nodeId }"), "", ""); with != without {
				t.Errorf("%s: %d statements with the IDs of the creators, want %d", list, with, without)
			}
		}
		var listed struct {
			Things struct {
				Nodes []struct {
					ID      int64 `json:",string"`
					Creator struct{ Username string }
				}
			}
		}
		ada.Query(`{ things(first: 30) { nodes { id creator { username } } } }`, nil, &listed)
		got := make(map[int64]string)
		for _, th := range listed.Things.Nodes {
			got[th.ID] = th.Creator.Username
		}
		if !maps.Equal(got, of) {
			t.Errorf("things have the creators %v, want %v", got, of)
		}
	})
}
