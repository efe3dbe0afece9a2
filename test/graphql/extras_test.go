package graphql_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshyard/meshyard/test/servertest"
)

// togetherFields are the fields that a query reads in the same statement as a thing and its
// creator.
const togetherFields = `isLiked isCollected isWatched descriptionHtml instructionsHtml fileCount models: fileCount(kinds: [MODEL])
	tags { name slug thingCount } category { name slug parent { name slug parent { name } } } creator { username isFollowed avatarUrl(width: 64, height: 64) }`

// TestReadTogether checks that fields which a query reads in the same statement as a thing or a
// user have the same values in the response to a mutation, which loads each of them by a separate
// statement.
func TestReadTogether(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		g := &gallery{s: s, db: servertest.OpenDB(t, s)}
		bob.Query(`mutation { createCollection(input: {name: "Things"}) { collection { id } } }`, nil, new(any))
		thing := ada.Thing("Gear")
		vars := servertest.Object{"id": fmt.Sprint(thing),
			"avatar": servertest.ID(ada.Upload("a.png", servertest.Mesh(t, "lib3mf_thumbnail.png")))}
		ada.Finalize("thing", thing, ada.Upload("a.stl", []byte("solid a")), ada.Upload("a.txt", []byte("A text."))).
			Want(t, 200)
		ada.Query(`mutation ($id: ID!, $avatar: ID!) {
			updateThing(input: {id: $id, category: "math-art", tags: ["Gear \"one\"", "Zahnräder", "a_b"], description: "**Made** for a test.", instructions: "Print it."}) { thing { id } }
			publishThing(input: {id: $id}) { thing { id } }
			updateProfile(input: {avatarId: $avatar}) { user { id } }
		}`, vars, new(any))
		g.exec(t, "UPDATE previews SET state = 'done', picture = 'png', width = 640, height = 480")
		mark := func(of string) {
			bob.Query(`mutation ($id: ID!) { `+of+`(input: {id: $id}) { thing { id } } }`, vars, new(any))
		}
		type read struct{ Thing json.RawMessage }
		yes := 0 // number of fields that are true
		for _, step := range []struct {
			name string
			do   func()
		}{
			{"no marks", func() {}},
			{"liked", func() { mark("likeThing"); yes++ }},
			{"collected", func() {
				bob.Query(`mutation ($id: ID!) { addToCollection(input: {collectionId: 1, thingId: $id}) { collection { id } } }`,
					vars, new(any))
				yes++
			}},
			{"followed", func() {
				bob.Query(`mutation { followUser(input: {username: "ada"}) { user { id } } }`, nil, new(any))
				yes++
			}},
			{"counted", s.Fold},
			{"stale HTML", func() {
				g.exec(t, "UPDATE things SET html_version = 0, description_html = 'old', instructions_html = 'old'")
			}},
			{"no tags", func() {
				ada.Query(`mutation ($id: ID!) { updateThing(input: {id: $id, tags: []}) { thing { id } } }`, vars, new(any))
			}},
			{"no avatar", func() {
				ada.Query(`mutation { updateProfile(input: {avatarId: null}) { user { id } } }`, nil, new(any))
			}},
		} {
			step.do()
			mark("unwatchThing")
			var one read
			bob.Query(`query ($id: ID!) { thing(id: $id) { `+togetherFields+` } }`, vars, &one)
			if n := strings.Count(string(one.Thing), "true"); n != yes {
				t.Errorf("%s: %d marks, want %d: %s", step.name, n, yes, one.Thing)
			}
			var listed struct {
				Things struct{ Nodes []json.RawMessage }
			}
			bob.Query(`{ things(first: 5) { nodes { `+togetherFields+` } } }`, nil, &listed)
			// The thing count makes this query read the complete category tree.
			var whole struct {
				Thing struct{ Category json.RawMessage }
			}
			bob.Query(`query ($id: ID!) { thing(id: $id) { category { name slug parent { name slug parent { name } } } c: category { thingCount } } }`, vars, &whole)
			var loaded struct{ WatchThing read }
			bob.Query(`mutation ($id: ID!) { watchThing(input: {id: $id}) { thing { `+togetherFields+` } } }`, vars, &loaded)
			// Only the mutation has marked the thing as watched.
			want := strings.Replace(string(loaded.WatchThing.Thing), `"isWatched":true`, `"isWatched":false`, 1)
			if d := cmp.Diff(want, string(one.Thing)); d != "" {
				t.Errorf("%s: a thing is not what a mutation returns (-want +got):\n%s", step.name, d)
			}
			if d := cmp.Diff(want, string(listed.Things.Nodes[0])); d != "" {
				t.Errorf("%s: a thing of a list is not what a mutation returns (-want +got):\n%s", step.name, d)
			}
			if !strings.Contains(want, `"category":`+string(whole.Thing.Category)) {
				t.Errorf("%s: the category is %s in the whole tree, not as in %s", step.name, whole.Thing.Category, want)
			}
			var watched read
			bob.Query(`query ($id: ID!) { thing(id: $id) { `+togetherFields+` } }`, vars, &watched)
			if d := cmp.Diff(string(loaded.WatchThing.Thing), string(watched.Thing)); d != "" {
				t.Errorf("%s: a watched thing is not what a mutation returns (-want +got):\n%s", step.name, d)
			}
		}
		var own read
		ada.Query(`query ($id: ID!) { thing(id: $id) { `+togetherFields+` } }`, vars, &own)
		if strings.Contains(string(own.Thing), "true") {
			t.Errorf("ada has the marks of bob: %s", own.Thing)
		}
	})
}
