package permissions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestUnlistedNeedsItsKey checks that an unlisted thing and all that belongs to it do not exist for
// those who count IDs, and that its owner, moderators and everyone with its key can see them.
func TestUnlistedNeedsItsKey(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, visitor, admin := s.User("ada"), s.User("bob"), s.Client(""), s.Administrator()
		thing, other := servertest.PublishedThing(t, ada, "Vase"), servertest.PublishedThing(t, ada, "Other")
		var made struct {
			CreateComment struct{ Comment struct{ ID, NodeID string } }
			CreateMake    struct{ Make struct{ ID string } }
		}
		bob.Query(`mutation ($id: ID!) { createComment(input: {target: {type: THING, id: $id}, body: "Nice"}) { comment { id nodeId } } createMake(input: {thingId: $id}) { make { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, &made)
		var files struct {
			Thing struct{ Files []struct{ ID string } }
		}
		ada.Query(`query ($id: ID!) { thing(id: $id) { files { id } } }`, servertest.Object{"id": servertest.ID(thing)},
			&files)
		file := files.Thing.Files[0].ID
		bob.Query(`mutation ($id: ID!) { likeThing(input: {id: $id}) { __typename } }`,
			servertest.Object{"id": servertest.ID(other)}, new(any))
		for _, id := range []int64{thing, other} {
			ada.Query(`mutation ($id: ID!) { publishThing(input: {id: $id, state: UNLISTED}) { thing { id } } }`,
				servertest.Object{"id": servertest.ID(id)}, new(any))
		}
		key := servertest.KeyOf(t, ada, thing)
		paths := []string{fmt.Sprint("/thing:", thing), fmt.Sprintf("/thing:%d/zip", thing), "/download:" + file, "/blobs/" +
			file + "/a.stl", "/view/" + file}
		documents := map[string]string{
			"thing": `{ thing(id: %[1]d) { id } }`, "file": `{ file(id: %[2]s) { id } }`,
			"comment": `{ comment(id: %[3]s) { id } }`,
			"like":    `mutation { likeThing(input: {id: %[1]d}) { thing { id } } }`,
			"node":    `{ node(nodeId: %[4]q) { nodeId } }`,
			"report":  `mutation { reportContent(input: {nodeId: %[4]q, reason: SPAM}) { report { id } } }`,
			"reply":   `mutation { createComment(input: {parentId: %[3]s, body: "a"}) { comment { id } } }`,
		}
		nodeID := models.NodeRef{Type: "Thing", ID: thing}.NodeID()
		document := func(name string) string {
			return strings.SplitN(fmt.Sprintf(documents[name], thing, file, made.CreateComment.Comment.ID, nodeID),
				"%!(EXTRA", 2)[0]
		}
		check := func(who string, c *servertest.Client, exists, signedIn bool) {
			t.Helper()
			want, code := 404, "NOT_FOUND"
			if exists {
				want, code = 200, ""
			}
			for _, path := range paths {
				// The owner of a file gets a signed URL of its bytes, so these need no token.
				if r := c.Get(path); r.StatusCode != want && (c.Token == "" || c.Key != "" || who == "stranger") {
					t.Errorf("%s: %s: got %d, want %d", who, path, r.StatusCode, want)
				} else if c.Key != "" && exists && !strings.HasPrefix(r.Header.Get("Cache-Control"), "private") &&
					!strings.HasPrefix(path, "/view") {
					t.Errorf("%s: %s: Cache-Control is %q, want private", who, path, r.Header.Get("Cache-Control"))
				}
			}
			for name := range documents {
				if strings.HasPrefix(document(name), "mutation") && (!signedIn || who == "owner") {
					continue // nobody reports their own content
				}
				r := c.GraphQL(document(name), nil)
				if r.Code() != code {
					t.Errorf("%s: %s: got %+v, want %q", who, name, r.Errors, code)
				}
				if !exists && name == "comment" && strings.Contains(r.Errors[0].Message, "thing") {
					t.Errorf("%s: %s: %s, want no ID of the thing", who, name, r.Errors[0].Message)
				}
			}
			if signedIn {
				for _, path := range []string{fmt.Sprint("/things/", thing), "/files/" + file,
					fmt.Sprintf("/things/%d/files", thing), fmt.Sprintf("/things/%d/package-url", thing)} {
					c.Get(path).Want(t, want)
				}
			}
		}
		with := func(c *servertest.Client, key string) *servertest.Client {
			c = c.For(t)
			c.Key = key
			return c
		}
		// A like can be removed without the key.
		var unliked struct {
			UnlikeThing struct{ Thing *struct{ ID string } }
		}
		unlike := `mutation ($id: ID!) { unlikeThing(input: {id: $id}) { thing { id } } }`
		if bob.Query(unlike, servertest.Object{"id": servertest.ID(other)}, &unliked); unliked.UnlikeThing.Thing != nil {
			t.Errorf("removing a like reveals thing %s", unliked.UnlikeThing.Thing.ID)
		}
		if r := bob.GraphQL(unlike, servertest.Object{"id": servertest.ID(other)}); r.Code() != "NOT_FOUND" {
			t.Errorf("removing a like again: %s %+v, want NOT_FOUND", r.Data, r.Errors)
		}
		for name, input := range map[string]string{"updateThing": `name: "x"`, "deleteThing": "", "unpublishThing": ""} {
			change := fmt.Sprintf("mutation { %s(input: {id: %d %s}) { __typename } }", name, thing, input)
			for c, want := range map[*servertest.Client]string{bob: "NOT_FOUND",
				servertest.Keyed(t, ada, bob, thing): "FORBIDDEN"} {
				if r := c.GraphQL(change, nil); r.Code() != want {
					t.Errorf("%s of a stranger with the key %q: %s %+v, want %s", name, c.Key, r.Data, r.Errors, want)
				}
			}
		}
		check("visitor", visitor, false, false)
		check("stranger", bob, false, true)
		check("visitor with the key of another thing", with(visitor, servertest.KeyOf(t, ada, other)), false, false)
		check("visitor with a changed key", with(visitor, key[:len(key)-2]+"AA"), false, false)
		check("visitor with the key under another ID", with(visitor, fmt.Sprint(other)+key[strings.Index(key, "."):]),
			false, false)
		check("owner", ada, true, true)
		check("moderator", admin, true, true)
		check("visitor with the key", with(visitor, key), true, false)
		check("stranger with the key", with(bob, key), true, true)

		// The argument works as the parameter does, and for one operation only.
		argument := `query ($id: ID!, $key: String) { thing(id: $id, key: $key) { name shareUrl comments { nodes { body } } files { id target { __typename } publicUrl directUrl } } }`
		var v struct {
			Thing struct {
				Name, ShareURL string
				Comments       struct{ Nodes []struct{ Body string } }
				Files          []struct {
					PublicURL, DirectURL string
					Target               *struct {
						Typename string `json:"__typename"`
					}
				}
			}
		}
		visitor.Query(argument, servertest.Object{"id": servertest.ID(thing), "key": key}, &v)
		if len(v.Thing.Comments.Nodes) == 0 || len(v.Thing.Files) == 0 || v.Thing.Files[0].Target == nil ||
			!strings.HasSuffix(v.Thing.ShareURL, "?key="+key) {
			t.Errorf("with the argument: %+v", v)
		}
		for _, address := range []string{v.Thing.Files[0].PublicURL, v.Thing.Files[0].DirectURL, v.Thing.ShareURL} {
			visitor.Get(address).Want(t, 200)
		}
		for name, key := range map[string]string{"another": servertest.KeyOf(t, ada, other), "none": "", "invalid": "x.y"} {
			if r := visitor.GraphQL(argument, servertest.Object{"id": servertest.ID(thing), "key": key}); r.Code() != "NOT_FOUND" {
				t.Errorf("with %s key as the argument: %s %+v", name, r.Data, r.Errors)
			}
		}
		if got := servertest.ReadObject(t, with(bob, key).Get(fmt.Sprint("/things/", thing)))["public_url"]; got != v.Thing.ShareURL {
			t.Errorf("REST: public_url is %v, want %s", got, v.Thing.ShareURL)
		}

		// A takedown reveals nothing either, and ends the access by the key.
		admin.Query(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "A copy."}) { thing { state } } }`, servertest.Object{"id": servertest.ID(thing)}, new(any))
		check("visitor after a takedown", visitor, false, false)
		with(visitor, key).Get(paths[2]).Want(t, 403)
		admin.Query(`mutation ($id: ID!) { restoreThing(input: {id: $id, reason: "No copy."}) { thing { state } } }`, servertest.Object{"id": servertest.ID(thing)}, new(any))
		ada.Query(`mutation ($id: ID!) { unpublishThing(input: {id: $id}) { thing { id } } }`, servertest.Object{"id": servertest.ID(thing)}, new(any))
		with(visitor, key).Get(paths[2]).Want(t, 403) // a draft
	}, func(s *config.Settings) { s.RateLimit = 0 })
}
