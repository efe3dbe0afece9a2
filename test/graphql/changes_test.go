package graphql_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestPayloadsHaveChanges checks that the payloads of mutations contain the objects whose counts
// and states they change, as they are after the change, so that a normalized cache of a client is
// up to date.
func TestPayloadsHaveChanges(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, eve, admin := s.User("ada"), s.User("bob"), s.User("eve"), s.Administrator()
		published := servertest.PublishedThing(t, ada, "Vase")
		ids := map[string]string{"$thing": servertest.ID(published),
			"$second": servertest.ID(servertest.PublishedThing(t, ada, "Cup"))}
		png := servertest.Mesh(t, "lib3mf_thumbnail.png")
		first, last := ada.Upload("a.png", png), ada.Upload("b.png", png)
		ada.Finalize("thing", published, first, last).Want(t, 200)
		ids["$a"], ids["$b"], ids["$pending"] = servertest.ID(first), servertest.ID(last),
			servertest.ID(bob.Upload("c.png", png))
		text := func(query string) string {
			var pairs []string
			for name, id := range ids {
				pairs = append(pairs, name, id)
			}
			return strings.NewReplacer(pairs...).Replace(query)
		}
		// create runs a mutation and names the ID of the new object.
		create := func(c *servertest.Client, name, mutation string) {
			t.Helper()
			var v struct {
				Made struct{ Object struct{ ID string } }
			}
			c.Query(text("mutation { made: "+mutation+" }"), nil, &v)
			ids[name] = v.Made.Object.ID
		}
		for _, name := range []string{"$one", "$two", "$three"} {
			create(bob, name, `createCollection(input: {name: "Vases"}) { object: collection { id } }`)
			if name != "$three" {
				create(bob, "$unused",
					`addToCollection(input: {collectionId: `+name+`, thingId: $thing}) { object: collection { id } }`)
			}
		}
		create(ada, "$draft", `createThing(input: {name: "Draft", license: CC, category: "tools"}) { object: thing { id } }`)
		for _, name := range []string{"$earlier", "$later"} {
			create(ada, name, `createCollection(input: {name: "Mine"}) { object: collection { id } }`)
			create(ada, "$unused",
				`addToCollection(input: {collectionId: `+name+`, thingId: $draft}) { object: collection { id } }`)
		}
		create(bob, "$make", `createMake(input: {thingId: $thing}) { object: make { id } }`)
		create(ada, "$comment",
			`createComment(input: {target: {type: THING, id: $thing}, body: "Spam"}) { object: comment { id: nodeId } }`)
		for _, c := range []*servertest.Client{bob, eve} {
			create(c, "$report", `reportContent(input: {nodeId: "$comment", reason: SPAM}) { object: report { id } }`)
		}
		const things, collections = `things { id isCollected collectCount } `, `fromCollections { id thingCount } `
		for _, c := range []struct {
			caller         *servertest.Client
			mutation, want string
		}{
			{bob, `moveThings(input: {thingIds: [$thing], collectionId: $three, fromCollectionId: $one, fromOthers: true}) { collection { thingCount } ` + collections + things + `}`,
				`{"collection":{"thingCount":1},"fromCollections":[{"id":"$one","thingCount":0},{"id":"$two","thingCount":0}],"things":[{"collectCount":1,"id":"$thing","isCollected":true}]}`},
			{bob, `moveThings(input: {thingIds: [$second, $thing], collectionId: $three, fromCollectionId: $one}) { ` +
				collections + things + `}`,
				`{"fromCollections":[],"things":[{"collectCount":1,"id":"$second","isCollected":true},{"collectCount":1,"id":"$thing","isCollected":true}]}`},
			{bob, `removeThings(input: {thingIds: [$thing, 999999]}) { ` + collections + things + `}`,
				`{"fromCollections":[{"id":"$three","thingCount":1}],"things":[{"collectCount":0,"id":"$thing","isCollected":false}]}`},
			{bob, `deleteCollection(input: {id: $three}) { thingIds ` + things + `me { username collectionCount } }`,
				`{"me":{"collectionCount":2,"username":"bob"},"thingIds":["$second"],"things":[{"collectCount":0,"id":"$second","isCollected":false}]}`},
			{bob, `deleteCollection(input: {id: $two}) { thingIds me { collectionCount } }`,
				`{"me":{"collectionCount":1},"thingIds":[]}`},
			{bob, `followUser(input: {username: "ada"}) { user { followerCount } me { username followingCount } }`,
				`{"me":{"followingCount":1,"username":"bob"},"user":{"followerCount":1}}`},
			{bob, `unfollowUser(input: {username: "ada"}) { user { followerCount } me { followingCount } }`,
				`{"me":{"followingCount":0},"user":{"followerCount":0}}`},
			{bob, `likeThing(input: {id: $thing}) { me { username likeCount } }`, `{"me":{"likeCount":1,"username":"bob"}}`},
			{ada, `markNotificationsRead(input: {}) { notifications { kind isRead target { __typename } } me { unreadNotificationCount } }`,
				`{"me":{"unreadNotificationCount":0},"notifications":[{"isRead":true,"kind":"LIKE","target":{"__typename":"Thing"}},{"isRead":true,"kind":"MAKE","target":{"__typename":"Make"}}]}`},
			{ada, `markNotificationsRead(input: {}) { notifications { id } }`, `{"notifications":[]}`},
			{bob, `unlikeThing(input: {id: $thing}) { me { likeCount } }`, `{"me":{"likeCount":0}}`},
			{bob, `deletePendingUpload(input: {id: $pending}) { me { usage { pendingUploads } } }`,
				`{"me":{"usage":{"pendingUploads":0}}}`},
			{ada, `reorderFiles(input: {target: {type: THING, id: $thing}, fileIds: [$b, $a]}) { target { ... on Thing { files(kinds: [IMAGE]) { id } } } }`,
				`{"target":{"files":[{"id":"$b"},{"id":"$a"}]}}`},
			{ada, `reorderImages(input: {target: {type: THING, id: $thing}, imageIds: [$a]}) { target { ... on Thing { defaultImage { id } } } }`, `{"target":{"defaultImage":{"id":"$a"}}}`},
			{ada, `updateImage(input: {id: $b, isDefault: true}) { target { ... on Thing { defaultImage { id } } } }`,
				`{"target":{"defaultImage":{"id":"$b"}}}`},
			{bob, `recordDownload(input: {fileId: $a}) { download { thing { downloadCount } file { downloadCount } } }`,
				`{"download":{"file":{"downloadCount":1},"thing":{"downloadCount":1}}}`},
			{eve, `recordDownload(input: {fileId: $a}) { download { thing { downloadCount } file { downloadCount } } }`,
				`{"download":{"file":{"downloadCount":2},"thing":{"downloadCount":2}}}`},
			{admin, `resolveReport(input: {id: $report, reason: "Spam"}) { closedReports { state reporter { username } } }`,
				`{"closedReports":[{"reporter":{"username":"eve"},"state":"RESOLVED"},{"reporter":{"username":"bob"},"state":"RESOLVED"}]}`},
			{admin, `resolveReport(input: {id: $report, reason: "Spam"}) { closedReports { id } }`, `{"closedReports":[]}`},
			{bob, `deleteMake(input: {id: $make}) { creator { username makeCount } }`,
				`{"creator":{"makeCount":0,"username":"bob"}}`},
			{ada, `updateThing(input: {id: $second, category: "art"}) { fromCategory { slug thingCount } thing { category { slug thingCount } } }`,
				`{"fromCategory":{"slug":"tools","thingCount":1},"thing":{"category":{"slug":"art","thingCount":1}}}`},
			{ada, `updateThing(input: {id: $second, category: "tools"}) { fromCategory { slug thingCount } thing { category { slug thingCount } } }`,
				`{"fromCategory":{"slug":"art","thingCount":0},"thing":{"category":{"slug":"tools","thingCount":2}}}`},
			{admin, `deleteThing(input: {id: $second, reason: "Spam"}) { creator { username thingCount } category { slug thingCount parent { thingCount } } }`,
				`{"category":{"parent":null,"slug":"tools","thingCount":1},"creator":{"thingCount":1,"username":"ada"}}`},
			{ada, `deleteThing(input: {id: $draft}) { ` + collections + `}`,
				`{"fromCollections":[{"id":"$later","thingCount":0},{"id":"$earlier","thingCount":0}]}`},
		} {
			var v struct{ Payload any }
			c.caller.Query(text("mutation { payload: "+c.mutation+" }"), nil, &v)
			got, err := json.Marshal(v.Payload)
			if want := text(c.want); err != nil || string(got) != want {
				t.Errorf("%s:\ngot  %s\nwant %s", c.mutation, got, want)
			}
		}

		create(bob, "$unused", `likeThing(input: {id: $thing}) { object: thing { id } }`)
		create(eve, "$unused", `likeThing(input: {id: $thing}) { object: thing { id } }`)
		var v struct {
			Me struct {
				Notifications struct{ Nodes []struct{ ID string } }
			}
		}
		ada.Query(`{ me { notifications(first: 1) { nodes { id } } } }`, nil, &v)
		var deleted struct {
			DeleteNotification struct {
				Me struct{ UnreadNotificationCount int }
			}
		}
		ada.Query(`mutation ($id: ID!) { deleteNotification(input: {id: $id}) { me { unreadNotificationCount } } }`,
			servertest.Object{"id": v.Me.Notifications.Nodes[0].ID}, &deleted)
		if got := deleted.DeleteNotification.Me.UnreadNotificationCount; got != 2 {
			t.Errorf("deleteNotification: got %d unread notifications, want 2", got)
		}

		// A token that may only write does not read notifications.
		r := s.Client(s.Token("ada", auth.Write)).
			GraphQL(`mutation { markNotificationsRead(input: {}) { unreadCount notifications { message } } }`, nil)
		if got := string(r.Data); r.Code() != "FORBIDDEN" || !strings.Contains(got, `"unreadCount":0`) ||
			!strings.Contains(got, `"notifications":null`) {
			t.Errorf("with a token that may only write: got %s and %+v", got, r.Errors)
		}
	})
}

// TestPayloadsOfSeveralMutations checks that each payload has the counts after its own mutation,
// although the operation read the same category before.
func TestPayloadsOfSeveralMutations(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		const category = `category { slug thingCount }`
		var payloads any
		ada.Query(`mutation ($id: ID!) {
			a: updateThing(input: {id: $id, category: "tools"}) { thing { `+category+` } }
			b: updateThing(input: {id: $id, category: "art"}) { thing { `+category+` } }
			c: unpublishThing(input: {id: $id}) { thing { `+category+` } }
		}`, servertest.Object{"id": servertest.ID(servertest.PublishedThing(t, ada, "Vase"))}, &payloads)
		got, err := json.Marshal(payloads)
		const want = `{"a":{"thing":{"category":{"slug":"tools","thingCount":1}}},"b":{"thing":{"category":{"slug":"art","thingCount":1}}},"c":{"thing":{"category":{"slug":"art","thingCount":0}}}}`
		if err != nil || string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}
