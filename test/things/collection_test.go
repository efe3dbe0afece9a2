package things_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestPrivateCollection checks that a private collection is invisible to other users in both APIs,
// and that counts follow its visibility.
func TestPrivateCollection(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := servertest.PublishedThing(t, bob, "Vase")
		var made struct {
			CreateCollection struct{ Collection struct{ ID, NodeID string } }
		}
		ada.Query(`mutation { createCollection(input: {name: "Zeppelin", visibility: PRIVATE}) { collection { id nodeId } } }`, nil, &made)
		c := made.CreateCollection.Collection
		ada.Query(`mutation ($c: ID!, $id: ID!) { addToCollection(input: {collectionId: $c, thingId: $id}) { collection { id } } }`, servertest.Object{"c": c.ID, "id": servertest.ID(thing)}, new(any))
		check := func(what string, visible bool) {
			t.Helper()
			s.Fold()
			status, n := 403, 0
			if visible {
				status, n = 200, 1
			}
			for _, path := range []string{"/collections/" + c.ID, "/collections/" + c.ID + "/things"} {
				bob.Get(path).Want(t, status)
			}
			for _, path := range []string{"/users/ada/collections", "/collections"} {
				if got := strings.Contains(string(bob.Get(path).Want(t, 200).Bytes), "Zeppelin"); got != visible {
					t.Errorf("%s: %s shows it: %t, want %t", what, path, got, visible)
				}
			}
			var v struct {
				Nodes               []*struct{ Name string }
				Search, Collections struct{ TotalCount int }
				User                struct {
					CollectionCount   int
					CollectedThingIds []string
					Collections       struct{ TotalCount int }
				}
				Things struct{ TotalCount int }
			}
			bob.Query(`query ($node: ID!) { nodes(nodeIds: [$node]) { ... on Collection { name } } search(type: COLLECTIONS, query: "zeppelin") { totalCount } collections { totalCount }
				user(username: "ada") { collectionCount collectedThingIds collections { totalCount } } things(filter: {collectedById: 1}) { totalCount } }`, servertest.Object{"node": c.NodeID}, &v)
			if (v.Nodes[0] != nil) != visible || v.Search.TotalCount != n || v.Collections.TotalCount != n ||
				v.User.CollectionCount != n || len(v.User.CollectedThingIds) != n || v.User.Collections.TotalCount != n ||
				v.Things.TotalCount != n {
				t.Errorf("%s: bob sees %+v, want %d of each", what, v, n)
			}
			ada.Query(`query ($node: ID!) { nodes(nodeIds: [$node]) { ... on Collection { name } } }`,
				servertest.Object{"node": c.NodeID}, &v)
			ada.Get("/collections/"+c.ID).Want(t, 200)
			if list := ada.Get("/users/ada/collections").Want(t, 200); v.Nodes[0] == nil || !strings.Contains(string(list.Bytes),
				"Zeppelin") {
				t.Errorf("%s: its creator does not see it: %s", what, list.Bytes)
			}
			if changed, err := s.Store.Maintenance.Recount(context.Background()); changed != 0 || err != nil {
				t.Errorf("%s: a recount changed %d counts (%v), want 0", what, changed, err)
			}
		}
		set := func(visibility string) {
			t.Helper()
			ada.Query(`mutation ($id: ID!, $v: CollectionVisibility) { updateCollection(input: {id: $id, visibility: $v}) { collection { visibility } } }`, servertest.Object{"id": c.ID, "v": visibility}, new(any))
		}
		check("private", false)
		like := `mutation ($id: ID!) { likeCollection(input: {id: $id}) { collection { id } } }`
		if r := bob.GraphQL(like, servertest.Object{"id": c.ID}); r.Code() != "FORBIDDEN" {
			t.Errorf("bob likes it: %+v", r.Errors)
		}
		set("PUBLIC")
		check("public", true)
		bob.Query(like, servertest.Object{"id": c.ID}, new(any))
		set("PRIVATE")
		check("private again", false)
		bob.Query(`mutation ($id: ID!) { unlikeCollection(input: {id: $id}) { collection { id } } }`,
			servertest.Object{"id": c.ID}, new(any))
		ada.Query(`mutation ($id: ID!) { deleteCollection(input: {id: $id}) { deletedId } }`, servertest.Object{"id": c.ID},
			new(any))
		s.Fold()
		if changed, err := s.Store.Maintenance.Recount(context.Background()); changed != 0 || err != nil {
			t.Errorf("after its deletion a recount changed %d counts (%v), want 0", changed, err)
		}
	})
}

// TestReorder checks that one call orders the things of a collection, and the files and images of a
// thing.
func TestReorder(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		var things []string
		for i := range 4 {
			things = append(things, servertest.ID(servertest.PublishedThing(t, ada, fmt.Sprint("T", i))))
		}
		var made struct {
			CreateCollection struct{ Collection struct{ ID string } }
		}
		ada.Query(`mutation { createCollection(input: {name: "Vases"}) { collection { id } } }`, nil, &made)
		c := made.CreateCollection.Collection.ID
		put := func(id string) {
			t.Helper()
			ada.Query(`mutation ($c: ID!, $id: ID!) { addToCollection(input: {collectionId: $c, thingId: $id}) { collection { id } } }`, servertest.Object{"c": c, "id": id}, new(any))
		}
		for _, id := range things[:3] {
			put(id)
		}
		reorder := func(by *servertest.Client, ids ...string) *servertest.Result {
			t.Helper()
			return by.GraphQL(`mutation ($c: ID!, $ids: [ID!]!) { reorderCollection(input: {id: $c, thingIds: $ids}) { collection { id } } }`, servertest.Object{"c": c, "ids": ids})
		}
		check := func(what string, want ...string) {
			t.Helper()
			var v struct {
				Collection struct {
					Things struct{ Nodes []struct{ ID string } }
				}
			}
			bob.Query(`query ($c: ID!) { collection(id: $c) { things { nodes { id } } } }`, servertest.Object{"c": c}, &v)
			var got []string
			for _, n := range v.Collection.Things.Nodes {
				got = append(got, n.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: the order is %v, want %v", what, got, want)
			}
		}
		check("as added", things[2], things[1], things[0])
		for range 2 {
			if r := reorder(ada, things[0], things[2]); len(r.Errors) > 0 {
				t.Errorf("reorderCollection: %+v", r.Errors)
			}
			check("reordered", things[0], things[2], things[1])
		}
		put(things[3])
		check("with a new thing", things[3], things[0], things[2], things[1])
		for what, r := range map[string]*servertest.Result{"BAD_USER_INPUT": reorder(ada, "999"),
			"FORBIDDEN": reorder(bob, things[0])} {
			if r.Code() != what {
				t.Errorf("%+v, want %s", r.Errors, what)
			}
		}

		// The cover is the image of the featured thing, or of the first one.
		var images []string
		for i := range 2 {
			image := ada.Upload(fmt.Sprintf("%d.png", i), servertest.Image(t, uint32(i)))
			images = append(images, servertest.ID(image))
			var thing int64
			fmt.Sscan(things[3-i], &thing)
			ada.Finalize("thing", thing, image).Want(t, 200)
		}
		cover := func() string {
			t.Helper()
			var v struct {
				Collection struct{ Cover *struct{ ID string } }
			}
			bob.Query(`query ($c: ID!) { collection(id: $c) { cover { id } } }`, servertest.Object{"c": c}, &v)
			if v.Collection.Cover == nil {
				return ""
			}
			return v.Collection.Cover.ID
		}
		if got := cover(); got != images[0] {
			t.Errorf("the cover is %s, want the image %s of the first thing", got, images[0])
		}
		ada.Query(`mutation ($c: ID!, $id: ID!) { updateCollection(input: {id: $c, featuredThingId: $id}) { collection { id } } }`, servertest.Object{"c": c, "id": things[2]}, new(any))
		if got := cover(); got != images[1] {
			t.Errorf("the cover is %s, want the image %s of the featured thing", got, images[1])
		}

		// Order files and images.
		thing := ada.Thing("Many")
		var ids []int64
		for i := range 3 {
			ids = append(ids, ada.Upload(fmt.Sprintf("%d.png", i), servertest.Image(t, uint32(i))))
		}
		text := ada.Upload("a.txt", []byte("Text."))
		ada.Finalize("thing", thing, append(ids, text)...).Want(t, 200)
		var v struct {
			ReorderFiles  struct{ Files []struct{ ID string } }
			ReorderImages struct{ Images []struct{ ID string } }
			Thing         struct{ DefaultImage struct{ ID string } }
		}
		target := fmt.Sprintf(`target: {type: THING, id: %d}`, thing)
		ada.Query(fmt.Sprintf(`mutation { reorderFiles(input: {%s, fileIds: [%d, %d]}) { files { id } } }`, target, text,
			ids[2]), nil, &v)
		if got, want := fmt.Sprint(v.ReorderFiles.Files), fmt.Sprintf("[{%d} {%d} {%d} {%d}]", text, ids[2], ids[0],
			ids[1]); got != want {
			t.Errorf("files are in the order %s, want %s", got, want)
		}
		ada.Query(fmt.Sprintf(`mutation { reorderImages(input: {%s, imageIds: [%d]}) { images { id } } }`, target, ids[1]),
			nil, &v)
		if got, want := fmt.Sprint(v.ReorderImages.Images), fmt.Sprintf("[{%d} {%d} {%d}]", ids[1], ids[2],
			ids[0]); got != want {
			t.Errorf("images are in the order %s, want %s", got, want)
		}
		ada.Query(fmt.Sprintf(`{ thing(id: %d) { defaultImage { id } } }`, thing), nil, &v)
		if v.Thing.DefaultImage.ID != servertest.ID(ids[1]) {
			t.Errorf("the default image is %s, want %d", v.Thing.DefaultImage.ID, ids[1])
		}
		for _, wrong := range []string{
			fmt.Sprintf(`reorderFiles(input: {%s, fileIds: [%d, %[2]d]}) { files { id } }`, target, text),
			`reorderFiles(input: {` + target + `, fileIds: []}) { files { id } }`,
			fmt.Sprintf(`reorderImages(input: {%s, imageIds: [%d]}) { images { id } }`, target, text),
		} {
			if r := ada.GraphQL("mutation { "+wrong+" }", nil); r.Code() != "BAD_USER_INPUT" {
				t.Errorf("%s: %+v", wrong, r.Errors)
			}
		}
	})
}
