package server_test

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

// TestSchemaConventions checks conventions of the schema that hold for all nouns: what null means
// in updates, what a filter of something unknown finds, and that pairs of mutations undo each
// other.
func TestSchemaConventions(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := ada.Thing("Bracket")
		ada.Finalize("thing", thing, ada.Upload("a.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")), ada.Upload("a.png", servertest.Mesh(t, "lib3mf_thumbnail.png")))
		ada.Publish(thing)
		ids := object{"id": servertest.ID(thing)}
		ada.Query(`mutation { createCollection(input: {name: "Best", description: "All."}) { collection { id } } }`, nil, new(any))
		check := func(c *servertest.Client, document, want string) {
			t.Helper()
			r := c.GraphQL(document, ids)
			got := string(r.Data)
			if len(r.Errors) > 0 {
				got = r.Code() + " " + r.Errors[0].Message
			}
			if got != want {
				t.Errorf("%s: got %s, want %s", document, got, want)
			}
		}
		check(ada, `mutation { updateProfile(input: {bio: "I print.", email: "ada@example.org"}) { user { bio email isViewer } } }`,
			`{"updateProfile":{"user":{"bio":"I print.","email":"ada@example.org","isViewer":true}}}`)
		check(ada, `mutation { updateProfile(input: {location: "London"}) { user { bio email } } }`, `{"updateProfile":{"user":{"bio":"I print.","email":"ada@example.org"}}}`)
		check(ada, `mutation { updateProfile(input: {bio: null, email: null}) { user { bio email location } } }`, `{"updateProfile":{"user":{"bio":"","email":null,"location":"London"}}}`)
		check(ada, `mutation ($id: ID!) { updateThing(input: {id: $id, tags: ["gear"], description: "A."}) { thing { description tags { name } } } }`,
			`{"updateThing":{"thing":{"description":"A.","tags":[{"name":"gear"}]}}}`)
		check(ada, `mutation ($id: ID!) { updateThing(input: {id: $id, tags: null}) { thing { description tags { name } } } }`, `{"updateThing":{"thing":{"description":"A.","tags":[]}}}`)
		check(ada, `mutation ($id: ID!) { updateThing(input: {id: $id, name: null}) { thing { name } } }`, "BAD_USER_INPUT must not be null")
		check(ada, `mutation ($id: ID!, $none: String) { updateThing(input: {id: $id, license: null, description: $none}) { thing { name } } }`, "BAD_USER_INPUT must not be null")
		check(ada, `query ($id: ID!) { thing(id: $id) { fileCount models: fileCount(kinds: [MODEL]) files { kind } } }`,
			`{"thing":{"fileCount":2,"models":1,"files":[{"kind":"MODEL"},{"kind":"IMAGE"}]}}`)
		for _, filter := range []string{`creator: "nobody"`, `tag: "unknown"`, `categoryId: 999999`, `creatorId: 999999`} {
			check(bob, `{ things(filter: {`+filter+`}) { totalCount nodes { id } } search(filter: {`+filter+`}) { totalCount } }`, `{"things":{"totalCount":0,"nodes":[]},"search":{"totalCount":0}}`)
		}
		for _, verb := range []string{"like", "watch"} {
			for _, noun := range []string{"thing", "collection"} {
				is := map[string]string{"like": "isLiked", "watch": "isWatched"}[verb]
				for _, prefix := range []string{"", "un"} {
					field := prefix + verb + strings.ToUpper(noun[:1]) + noun[1:]
					document, id := `mutation { `+field+`(input: {id: 1}) { `+noun+` { `+is+` } } }`, map[string]string{"": "true", "un": "false"}[prefix]
					want := `{"` + field + `":{"` + noun + `":{"` + is + `":` + id + `}}}`
					check(bob, document, want)
					check(bob, document, want)
				}
			}
		}
	})
}
