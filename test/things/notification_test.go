package things_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestNotifications follows notifications from the event to the recipient, in both APIs, until they
// are read or deleted.
func TestNotifications(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, eve := s.User("ada"), s.User("bob"), s.User("eve")
		thing := servertest.PublishedThing(t, ada, "Bracket")
		kinds := func(c *servertest.Client) (kinds []string) {
			t.Helper()
			var me struct {
				Me struct {
					Notifications struct {
						Nodes []struct{ Kind, Message string }
					}
				}
			}
			c.Query(`{ me { notifications { nodes { kind message actor { username } target { __typename } } } } }`, nil, &me)
			for _, n := range me.Me.Notifications.Nodes {
				if n.Message == "" {
					t.Errorf("%s: no message", n.Kind)
				}
				kinds = append(kinds, n.Kind)
			}
			slices.Reverse(kinds) // in the order of the events
			return kinds
		}
		want := func(c *servertest.Client, who string, expected ...string) {
			t.Helper()
			if got := kinds(c); !slices.Equal(got, expected) {
				t.Errorf("%s: notifications %v, want %v", who, got, expected)
			}
		}
		path := fmt.Sprintf("/things/%d", thing)
		eve.Do("POST", path+"/toggle-watch", nil).Want(t, 200)
		bob.Do("POST", path+"/likes", nil).Want(t, 200)
		bob.Do("DELETE", path+"/likes", nil).Want(t, 200)
		bob.Do("POST", path+"/likes", nil).Want(t, 200) // the second like causes no notification
		var comment struct{ ID int64 }
		bob.Do("POST", path+"/comments", servertest.Object{"body": "Neat."}).Want(t, 200, &comment)
		ada.Do("POST", fmt.Sprintf("/comments/%d/reply", comment.ID), servertest.Object{"body": "Thanks."}).Want(t, 200)
		bob.Do("POST", "/users/ada/followers", nil).Want(t, 200)
		want(ada, "ada", "LIKE", "COMMENT", "FOLLOW")
		want(bob, "bob", "REPLY")
		want(eve, "eve, who watches", "COMMENT", "COMMENT")

		count := func(c *servertest.Client, expected int) {
			t.Helper()
			var n struct{ Count int }
			c.Get("/users/me/event-count").Want(t, 200, &n)
			if n.Count != expected {
				t.Errorf("event-count is %d, want %d", n.Count, expected)
			}
		}
		count(ada, 3)
		ada.Do("POST", "/events/0/read-all", nil).Want(t, 200)
		count(ada, 0)
		var events []struct{ ID int64 }
		ada.Get("/events").Want(t, 200, &events)
		if v, there := servertest.ReadObject(t, ada.Get(fmt.Sprintf("/events/%d", events[0].ID)))["subscription"]; v != nil ||
			!there {
			t.Errorf("subscription: %v (%t), want null", v, there)
		}
		bob.Do("DELETE", fmt.Sprintf("/events/%d", events[0].ID), nil).Want(t, 404)
		ada.Do("DELETE", fmt.Sprintf("/events/%d", events[0].ID), nil).Want(t, 200)
		ada.Get(fmt.Sprintf("/events/%d", events[0].ID)).Want(t, 404)
		bob.Get("/users/ada/event-count").Want(t, 403)

		bob.Do("DELETE", "/users/ada/followers", nil).Want(t, 200)
		bob.Do("DELETE", fmt.Sprintf("/comments/%d", comment.ID), nil).Want(t, 200)
		want(ada, "ada, after it was taken back", "LIKE")
		ada.Do("DELETE", path, nil).Want(t, 200)
		want(ada, "ada, after the thing was deleted")
		want(eve, "eve, after the thing was deleted")
		eve.Do("POST", path+"/toggle-watch", nil).Want(t, 404)
	})
}

// TestMoveThingsAsExistingClients moves things between collections as existing clients do, and
// checks the counts after every step.
func TestMoveThingsAsExistingClients(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		one, two := servertest.PublishedThing(t, bob, "One"), servertest.PublishedThing(t, bob, "Two")
		var from, to struct{ ID int64 }
		ada.Do("POST", "/collections", servertest.Object{"name": "From"}).Want(t, 200, &from)
		ada.Do("POST", "/collections", servertest.Object{"name": "To"}).Want(t, 200, &to)
		holds := func(collection int64, expected ...int64) {
			t.Helper()
			s.Fold()
			var things []struct{ ID int64 }
			var c struct{ Count int }
			ada.Get(fmt.Sprintf("/collections/%d/things", collection)).Want(t, 200, &things)
			ada.Get(fmt.Sprintf("/collections/%d", collection)).Want(t, 200, &c)
			var got []int64
			for _, t := range things {
				got = append(got, t.ID)
			}
			slices.Sort(got)
			if !slices.Equal(got, expected) || c.Count != len(expected) {
				t.Errorf("collection %d holds %v, counted %d, want %v", collection, got, c.Count, expected)
			}
		}
		both := fmt.Sprintf("/thingops/%d,%d", one, two)
		ada.Do("POST", both+"/copy", servertest.Object{"target_collection_id": from.ID}).Want(t, 200)
		holds(from.ID, one, two)
		ada.Do("POST", both+"/move", servertest.Object{"source_collection_id": from.ID, "target_collection_id": to.ID}).
			Want(t, 200)
		holds(from.ID)
		holds(to.ID, one, two)
		ada.Do("POST", fmt.Sprintf("/thingops/%d,%d/copy", one, 999), servertest.Object{"target_collection_id": from.ID}).
			Want(t, 404)
		holds(from.ID) // a call changes all or nothing
		bob.Do("POST", both+"/remove", servertest.Object{"collection_id": to.ID}).Want(t, 403)
		ada.Do("POST", fmt.Sprintf("/thingops/%d/remove", one), servertest.Object{"collection_id": to.ID}).Want(t, 200)
		holds(to.ID, two)
		ada.Do("POST", fmt.Sprintf("/collections/%d/move/%d", from.ID, two), nil).Want(t, 200)
		holds(from.ID, two)
		holds(to.ID)
		var holding struct{ ID int64 }
		if ada.Get(fmt.Sprintf("/collections/%d/by-thing-id", two)).Want(t, 200, &holding); holding.ID != from.ID {
			t.Errorf("by-thing-id returns collection %d, want %d", holding.ID, from.ID)
		}
		bob.Get(fmt.Sprintf("/collections/%d/by-thing-id", two)).Want(t, 404)
		ada.Do("DELETE", fmt.Sprintf("/things/%d/collections", two), nil).Want(t, 200)
		holds(from.ID)
		ada.Do("POST", "/thingops/1,x/copy", servertest.Object{"target_collection_id": from.ID}).Want(t, 400)
	})
}

// arriving opens a subscription to notifications, and returns a function that checks that the next
// event contains want.
func arriving(t *testing.T, c *servertest.Client, subscription string) (next func(want string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Hung)
	stream := servertest.OpenStream(t, ctx, cancel, c, servertest.QueryBody(subscription))
	t.Cleanup(stream.Close)
	return func(want string) {
		t.Helper()
		switch got := stream.Next(); {
		case got == "":
			t.Fatalf("the stream ended before %s", want)
		case !strings.Contains(got, want):
			t.Fatalf("the event is %s, want %s", got, want)
		}
	}
}

// TestNotificationsArrive checks that a subscription receives the number of unread notifications
// first, and then each new notification once.
func TestNotificationsArrive(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := servertest.PublishedThing(t, ada, "Bracket")
		bob.Query(`mutation { followUser(input: {username: "ada"}) { user { id } } }`, nil, new(any))
		next := arriving(t, ada, `subscription { notifications { notification { kind actor { username } } unreadCount } }`)
		next(`{"notification":null,"unreadCount":1}`)
		bob.Query(`mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, new(any))
		next(`{"notification":{"kind":"LIKE","actor":{"username":"bob"}},"unreadCount":2}`)
		ada.Query(`mutation { markNotificationsRead(input: {}) { unreadCount } }`, nil, new(any))
		bob.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, new(any))
		next(`{"notification":{"kind":"MAKE","actor":{"username":"bob"}},"unreadCount":1}`)
	})
}

// TestOldNotificationsDoNotArrive checks that a subscription sends no notification that existed
// when it began, even if there are more recent ones than it reads at once, and some are deleted.
func TestOldNotificationsDoNotArrive(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := servertest.PublishedThing(t, ada, "Bracket")
		db := servertest.OpenDB(t, s).SQL()
		for i := range 150 {
			at := time.Now().UTC().Format("2006-01-02 15:04:05.000000-07:00")
			_, err := db.Exec(fmt.Sprintf(`INSERT INTO notifications (user_id, kind, actor_id, target_type, target_id, created_at)
				SELECT ada.id, 'comment', bob.id, 'thing', %d, '%s' FROM users AS ada, users AS bob WHERE ada.username = 'ada' AND bob.username = 'bob'`, thing, at))
			if err != nil {
				t.Fatalf("notification %d: %v", i, err)
			}
		}
		var latest struct {
			Me struct {
				Notifications struct{ Nodes []struct{ ID string } }
			}
		}
		ada.Query(`{ me { notifications(first: 20) { nodes { id } } } }`, nil, &latest)
		next := arriving(t, ada, `subscription { notifications { notification { kind } unreadCount } }`)
		next(`{"notification":null,"unreadCount":150}`)
		for _, n := range latest.Me.Notifications.Nodes {
			ada.Query(`mutation ($id: ID!) { deleteNotification(input: {id: $id}) { deletedId } }`,
				servertest.Object{"id": n.ID}, new(any))
		}
		bob.Query(`mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, new(any))
		next(`{"notification":{"kind":"LIKE"},"unreadCount":131}`)
		bob.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, new(any))
		next(`{"notification":{"kind":"MAKE"},"unreadCount":132}`)
	})
}
