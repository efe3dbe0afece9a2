package graphql_test

import (
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestCollectedThing checks that the payloads of addToCollection and removeFromCollection contain
// the thing as it is after the change, so that a normalized cache of a client is up to date.
func TestCollectedThing(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := servertest.ID(servertest.PublishedThing(t, bob, "Vase"))
		var made struct {
			CreateCollection struct{ Collection struct{ ID string } }
		}
		ada.Query(`mutation { createCollection(input: {name: "Vases"}) { collection { id } } }`, nil, &made)
		variables := servertest.Object{"c": made.CreateCollection.Collection.ID, "id": thing}
		type payload struct {
			Thing *struct {
				ID           string
				IsCollected  bool
				CollectCount int
				Collections  []struct{ Name string }
			}
		}
		var v struct{ Add, Remove payload }
		ada.Query(`mutation ($c: ID!, $id: ID!) {
			add: addToCollection(input: {collectionId: $c, thingId: $id}) { thing { ...state } }
			remove: removeFromCollection(input: {collectionId: $c, thingId: $id}) { thing { ...state } }
		} fragment state on Thing { id isCollected collectCount collections { name } }`, variables, &v)
		if added := v.Add.Thing; added == nil || added.ID != thing || !added.IsCollected || added.CollectCount != 1 ||
			len(added.Collections) != 1 {
			t.Errorf("addToCollection: got the thing %+v", added)
		}
		if removed := v.Remove.Thing; removed == nil || removed.IsCollected || removed.CollectCount != 0 ||
			len(removed.Collections) != 0 {
			t.Errorf("removeFromCollection: got the thing %+v", removed)
		}

		ada.Query(`mutation ($c: ID!, $id: ID!) { addToCollection(input: {collectionId: $c, thingId: $id}) { thing { id } } }`, variables, new(any))
		bob.Query(`mutation ($id: ID!) { unpublishThing(input: {id: $id}) { thing { id } } }`, servertest.Object{"id": thing},
			new(any))
		v.Remove = payload{}
		ada.Query(`mutation ($c: ID!, $id: ID!) { remove: removeFromCollection(input: {collectionId: $c, thingId: $id}) { thing { ...state } } }
			fragment state on Thing { id isCollected collectCount collections { name } }`, variables, &v)
		if v.Remove.Thing != nil {
			t.Errorf("removeFromCollection: got the draft of another user: %+v", v.Remove.Thing)
		}
	})
}

// TestCollectionLikers checks that a collection lists and counts the users who like it, also as a
// Likeable.
func TestCollectionLikers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		var made struct {
			CreateCollection struct{ Collection struct{ ID, NodeID string } }
		}
		ada.Query(`mutation { createCollection(input: {name: "Vases"}) { collection { id nodeId } } }`, nil, &made)
		c := made.CreateCollection.Collection
		for _, name := range []string{"bob", "cleo"} {
			s.User(name).Query(`mutation ($id: ID!) { likeCollection(input: {id: $id}) { collection { id } } }`,
				servertest.Object{"id": c.ID}, new(any))
		}
		type likers struct {
			TotalCount int
			Nodes      []struct{ Username string }
		}
		var v struct {
			Collection, Node struct {
				LikeCount int
				Likers    likers
			}
		}
		ada.Query(`query ($id: ID!, $node: ID!) { collection(id: $id) { likeCount likers(first: 1) { totalCount nodes { username } } }
			node(nodeId: $node) { ... on Likeable { likeCount likers { totalCount nodes { username } } } } }`, servertest.Object{"id": c.ID, "node": c.NodeID}, &v)
		if got := v.Collection.Likers; got.TotalCount != 2 || len(got.Nodes) != 1 || got.Nodes[0].Username != "cleo" {
			t.Errorf("likers of the collection: got %+v, want two, cleo first", got)
		}
		if got := v.Node.Likers; got.TotalCount != 2 || len(got.Nodes) != 2 || got.Nodes[1].Username != "bob" {
			t.Errorf("likers of the node: got %+v, want cleo and bob", got)
		}
		if v.Collection.LikeCount != 2 || v.Node.LikeCount != 2 {
			t.Errorf("got %d likes of the collection and %d of the node, want 2", v.Collection.LikeCount, v.Node.LikeCount)
		}
		var unlike struct {
			UnlikeCollection struct{ Collection struct{ LikeCount int } }
		}
		s.Client(s.Token("bob", auth.Read, auth.Write)).
			Query(`mutation ($id: ID!) { unlikeCollection(input: {id: $id}) { collection { likeCount } } }`,
				servertest.Object{"id": c.ID}, &unlike)
		if got := unlike.UnlikeCollection.Collection.LikeCount; got != 1 {
			t.Errorf("after unlikeCollection: got %d likes, want 1", got)
		}
		if wrong, err := s.Store.Maintenance.Recount(t.Context()); err != nil || wrong != 0 {
			t.Errorf("%d counts were wrong (%v), want 0", wrong, err)
		}
	})
}

// TestDeletedParts checks that the payload of a deletion contains the object that the deleted one
// belonged to, as it is after the deletion.
func TestDeletedParts(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := servertest.PublishedThing(t, ada, "Vase")
		file, picture := ada.Upload("b.stl", servertest.Mesh(t, "hschendel_simple_bin.stl")),
			ada.Upload("a.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))
		ada.Finalize("thing", thing, file, picture).Want(t, 200)
		var made struct {
			CreateMake struct{ Make struct{ ID string } }
		}
		bob.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, &made)
		type state struct {
			ID                   string
			FileCount, MakeCount int
			Images               []struct{ ID string }
		}
		for _, c := range []struct {
			client               *servertest.Client
			mutation, field, id  string
			fileCount, makeCount int
		}{
			{ada, "deleteFile", "target", servertest.ID(file), 2, 1},
			{ada, "deleteImage", "target", servertest.ID(picture), 1, 1},
			{bob, "deleteMake", "thing", made.CreateMake.Make.ID, 1, 0},
		} {
			var v struct{ Payload struct{ Object *state } }
			c.client.Query(`mutation ($id: ID!) { payload: `+c.mutation+`(input: {id: $id}) { object: `+c.field+` {
				... on Thing { id fileCount makeCount images(ids: [$id]) { id } } } } }`, servertest.Object{"id": c.id}, &v)
			if got := v.Payload.Object; got == nil || got.ID != servertest.ID(thing) || got.FileCount != c.fileCount ||
				got.MakeCount != c.makeCount || len(got.Images) != 0 {
				t.Errorf("%s: got the thing %+v, want %+v", c.mutation, got, c)
			}
		}
	})
}

// TestDeletedNodeID checks that deletions return the nodeId of the deleted object.
func TestDeletedNodeID(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing, mesh := servertest.PublishedThing(t, ada, "Vase"), servertest.Mesh(t, "hschendel_simple_bin.stl")
		file, pending := ada.Upload("a.stl", mesh), ada.Upload("b.stl", mesh)
		ada.Finalize("thing", thing, file).Want(t, 200)
		var made struct {
			CreateCollection struct{ Collection struct{ ID string } }
			CreateMake       struct{ Make struct{ ID string } }
			CreateWebhook    struct{ Webhook struct{ ID string } }
			CreatePrinter    struct{ Printer struct{ ID string } }
			Me               struct {
				ID            string
				Notifications struct{ Nodes []struct{ ID string } }
			}
		}
		ada.Query(`mutation ($thing: ID!) {
			createCollection(input: {name: "Vases"}) { collection { id } }
			createMake(input: {thingId: $thing}) { make { id } }
			createWebhook(input: {url: "https://hook.invalid/", events: [MAKE_CREATED]}) { webhook { id } }
			createPrinter(input: {name: "Printer", kind: OCTOPRINT, url: "http://printer.invalid/"}) { printer { id } }
		}`, servertest.Object{"thing": servertest.ID(thing)}, &made)
		bob.Query(`mutation ($id: ID!) { likeMake(input: {id: $id}) { make { id } } }`,
			servertest.Object{"id": made.CreateMake.Make.ID}, new(any))
		ada.Query(`{ me { id notifications { nodes { id } } } }`, nil, &made)
		if len(made.Me.Notifications.Nodes) != 1 {
			t.Fatalf("got %d notifications, want one", len(made.Me.Notifications.Nodes))
		}
		for _, c := range []struct{ mutation, read, id string }{
			{"deleteFile", "file", servertest.ID(file)},
			{"deletePendingUpload", "file", servertest.ID(pending)},
			{"deleteNotification", "notification", made.Me.Notifications.Nodes[0].ID},
			{"deleteMake", "make", made.CreateMake.Make.ID},
			{"deletePrinter", "printer", made.CreatePrinter.Printer.ID},
			{"deleteWebhook", "webhook", made.CreateWebhook.Webhook.ID},
			{"deleteCollection", "collection", made.CreateCollection.Collection.ID},
			{"deleteThing", "thing", servertest.ID(thing)},
			{"deleteAccount", "me", made.Me.ID},
		} {
			var before struct{ Object struct{ NodeID string } }
			var after struct {
				Payload struct{ DeletedID, DeletedNodeID string }
			}
			read, input := "($id: ID!) { object: "+c.read+"(id: $id)", "id: $id"
			variables := servertest.Object{"id": c.id}
			if c.read == "me" {
				read, input, variables = "{ object: me", `username: "ada"`, nil
			}
			ada.Query("query "+read+" { nodeId } }", variables, &before)
			head := ""
			if variables != nil {
				head = "($id: ID!) "
			}
			ada.Query("mutation "+head+"{ payload: "+c.mutation+"(input: {"+input+"}) { deletedId deletedNodeId } }", variables,
				&after)
			if after.Payload.DeletedID != c.id || after.Payload.DeletedNodeID != before.Object.NodeID ||
				before.Object.NodeID == "" {
				t.Errorf("%s: got %+v, want the id %s and the nodeId %s", c.mutation, after.Payload, c.id, before.Object.NodeID)
			}
		}
	})
}

// TestFormerAncestors checks that the payloads of updateThing and deleteThing contain the things
// that the thing is no longer a remix of, except those that are hidden from the caller.
func TestFormerAncestors(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		first, second, hidden := servertest.PublishedThing(t, bob, "First"), servertest.PublishedThing(t, bob, "Second"),
			servertest.PublishedThing(t, bob, "Hidden")
		remix := servertest.ID(servertest.PublishedThing(t, ada, "Remix"))
		type ancestors []struct {
			Name       string
			RemixCount int
		}
		update := func(input servertest.Object) ancestors {
			t.Helper()
			input["id"] = remix
			var v struct {
				UpdateThing struct{ FromAncestors ancestors }
			}
			ada.Query(`mutation ($input: UpdateThingInput!) { updateThing(input: $input) { fromAncestors { name remixCount } } }`, servertest.Object{"input": input}, &v)
			return v.UpdateThing.FromAncestors
		}
		for _, c := range []struct {
			name  string
			input servertest.Object
			want  ancestors
		}{
			{"the first ancestors", servertest.Object{"ancestorIds": []int64{first, second, hidden}}, ancestors{}},
			{"a name", servertest.Object{"name": "Remix 2"}, ancestors{}},
			{"another order", servertest.Object{"ancestorIds": []int64{hidden, second, first}}, ancestors{}},
			{"one less", servertest.Object{"ancestorIds": []int64{second, hidden}}, ancestors{{"First", 0}}},
			{"none", servertest.Object{"ancestorIds": []int64{}}, ancestors{{"Second", 0}, {"Hidden", 0}}},
			{"all again", servertest.Object{"ancestorIds": []int64{second, first, hidden}}, ancestors{}},
		} {
			if got := update(c.input); !slices.Equal(got, c.want) {
				t.Errorf("updateThing with %s: got %v, want %v", c.name, got, c.want)
			}
		}
		bob.Query(`mutation ($id: ID!) { unpublishThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": hidden}, new(any))
		var v struct{ DeleteThing struct{ Ancestors ancestors } }
		ada.Query(`mutation ($id: ID!) { deleteThing(input: {id: $id}) { ancestors { name remixCount } } }`,
			servertest.Object{"id": remix}, &v)
		if got, want := v.DeleteThing.Ancestors, (ancestors{{"Second", 0}, {"First", 0}}); !slices.Equal(got, want) {
			t.Errorf("deleteThing: got %v, want %v", got, want)
		}
	})
}

// TestWatchedByCaller checks that the payloads of watchThing and unwatchThing contain the caller
// with the changed list.
func TestWatchedByCaller(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		thing, ada := servertest.ID(servertest.PublishedThing(t, s.User("bob"), "Vase")), s.User("ada")
		for _, c := range []struct {
			mutation string
			want     int
		}{{"watchThing", 1}, {"unwatchThing", 0}} {
			var v struct {
				Payload struct {
					Me struct {
						Username      string
						WatchedThings struct{ TotalCount int }
					}
				}
			}
			ada.Query(`mutation ($id: ID!) { payload: `+c.mutation+`(input: {id: $id}) { me { username watchedThings { totalCount } } } }`, servertest.Object{"id": thing}, &v)
			if me := v.Payload.Me; me.Username != "ada" || me.WatchedThings.TotalCount != c.want {
				t.Errorf("%s: got %+v, want ada with %d watched things", c.mutation, me, c.want)
			}
		}
	})
}
