package server_test

import (
	"fmt"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

// TestStatementCounts checks that the number of statements for a list does not depend on the length
// of the list.
func TestStatementCounts(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := newWorld(t, s)
		costOf := func(document string) int64 {
			return cost(t, s, w.ada, document, "", "")
		}
		const list = `{ me { downloads(first: 50) { totalCount nodes { thing { name creator { username thingCount } category { name } tags { name } files { name creator { username } } fileCount }
			file { name creator { username } target { ... on Thing { id } } } } edges { node { file { creator { username makeCount } } } } } downloadedThings { nodes { id files { id } } } } }`
		grow := func(n int) {
			for i := range n {
				thing, file := w.ada.Thing(fmt.Sprint("T", i)), w.ada.Upload("a.stl", fmt.Append(nil, "solid", i))
				w.ada.Finalize("thing", thing, file).Want(t, 200)
				w.ada.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, 302)
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
