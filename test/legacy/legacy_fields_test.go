package legacy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestStoredDetails checks that flags and details of a thing are returned as they were sent. The
// server does not interpret the details.
func TestStoredDetails(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		parts := []any{servertest.Object{"type": "settings", "name": "Print Settings",
			"data": []any{servertest.Object{"Printer": "Größe <b> ' \" \u0000", "Infill": 0.25}}}, servertest.Object{}}
		check := func(what string, o servertest.Object, nsfw, ai bool, details any) {
			t.Helper()
			got, _ := json.Marshal(o["details_parts"])
			want, _ := json.Marshal(details)
			if o["is_nsfw"] != nsfw || o["is_ai"] != ai || string(got) != string(want) {
				t.Errorf("%s: is_nsfw %v, is_ai %v, details_parts %s, want %v, %v, %s", what, o["is_nsfw"], o["is_ai"], got, nsfw,
					ai, want)
			}
		}
		made := servertest.ReadObject(t, ada.Do("POST", "/things", servertest.Object{"name": "A", "license": "cc",
			"category": "Art", "is_nsfw": true, "is_ai": 1, "details_parts": parts}))
		check("POST", made, true, true, parts)
		path := fmt.Sprintf("/things/%v", made["id"])
		check("GET", servertest.ReadObject(t, ada.Get(path)), true, true, parts)
		check("PATCH of another field", servertest.ReadObject(t, ada.Do("PATCH", path, servertest.Object{"name": "B"})), true,
			true, parts)
		check("PATCH", servertest.ReadObject(t, ada.Do("PATCH", path, servertest.Object{"is_nsfw": false, "is_ai": "0",
			"details_parts": parts[:1]})), false, false, parts[:1])
		whole := servertest.ReadObject(t, ada.Get(path))
		check("PATCH of the whole", servertest.ReadObject(t, ada.Do("PATCH", path, whole)), false, false, parts[:1])
		check("PATCH with nothing",
			servertest.ReadObject(t, ada.Do("PATCH", path, servertest.Object{"is_nsfw": nil, "details_parts": []any{}})), false,
			false, []any{})
		plain := servertest.ReadObject(t, ada.Do("POST", "/things", servertest.Object{"name": "Plain", "license": "cc",
			"category": "Art"}))
		check("a plain thing", servertest.ReadObject(t, ada.Get(fmt.Sprintf("/things/%v", plain["id"]))), false, false,
			[]any{})
		for _, wrong := range []any{[]any{1}, "x", "{}", []any{[]any{}},
			[]any{servertest.Object{"x": strings.Repeat("x", 66_000)}}} {
			r := ada.Do("PATCH", path, servertest.Object{"details_parts": wrong}).Want(t, 400)
			if !strings.Contains(string(r.Bytes), `"message":"details_parts: `) {
				t.Errorf("%.40v: %s", wrong, r.Bytes)
			}
		}
		var list []servertest.Object
		ada.Do("PATCH", path, servertest.Object{"is_nsfw": 1}).Want(t, 200)
		ada.Get("/users/ada/things").Want(t, 200, &list)
		if list[1]["is_nsfw"] != true || list[0]["is_nsfw"] != false {
			t.Errorf("is_nsfw in a list: %v, %v", list[1]["is_nsfw"], list[0]["is_nsfw"])
		}
	})
}

// TestTakedownByREST checks that the owner and moderators see a takedown, and that users can
// withdraw a like of a thing that was taken down.
func TestTakedownByREST(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		thing := ada.Thing("Gear")
		ada.Finalize("thing", thing, ada.Upload("a.stl", []byte("solid a\nendsolid a\n"))).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		path := fmt.Sprint("/things/", thing)
		bob.Do("POST", path+"/likes", nil).Want(t, 200)
		state := func(c *servertest.Client) string {
			o := servertest.ReadObject(t, c.Get(path))
			return fmt.Sprint(o["is_banned"], " ", o["needs_moderation"], " ", o["moderation"], " ", o["like_count"])
		}
		if got := state(ada); got != "false 0  1" {
			t.Errorf("before: %s", got)
		}
		admin.Query(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "Copied."}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, new(any))
		for _, c := range []*servertest.Client{ada, admin} {
			if got := state(c); got != "true 1 Copied. 1" {
				t.Errorf("taken down: %s", got)
			}
		}
		bob.Get(path).Want(t, 403)
		bob.Do("DELETE", path+"/likes", nil).Want(t, 200)
		bob.Do("DELETE", path+"/likes", nil).Want(t, 403) // there is no like to withdraw
		bob.Do("POST", path+"/likes", nil).Want(t, 403)
		bob.Do("DELETE", "/things/9999/likes", nil).Want(t, 404)
		s.Fold()
		if got := state(ada); got != "true 1 Copied. 0" {
			t.Errorf("after the like was taken back: %s", got)
		}
	})
}

// TestFeaturedThingOfCollection checks that the owner of a collection can choose the thing whose
// image represents it, as long as that thing is in the collection.
func TestFeaturedThingOfCollection(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		var ids []int64
		for range 3 {
			id := ada.Thing("Gear")
			ada.Finalize("thing", id, ada.Upload("a.stl", []byte("solid a\nendsolid a\n")),
				ada.Upload("a.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))).Want(t, 200)
			ada.Publish(id).Want(t, 200)
			ids = append(ids, id)
		}
		collection := servertest.ReadObject(t, bob.Do("POST", "/collections", servertest.Object{"name": "Gears"}))
		path := fmt.Sprintf("/collections/%v", collection["id"])
		for _, id := range ids[:2] {
			bob.Do("POST", fmt.Sprintf("%s/thing/%d", path, id), nil).Want(t, 200)
		}
		image := func(thing int64) any {
			return servertest.ReadObject(t, ada.Get(fmt.Sprint("/things/", thing)))["thumbnail"]
		}
		check := func(what string, featured any, shown int64) {
			t.Helper()
			o := servertest.ReadObject(t, ada.Get(path))
			if o["featured_thing_id"] != featured || o["thumbnail"] != image(shown) {
				t.Errorf("%s: featured_thing_id %v and %v, want %v and the image of thing %d", what, o["featured_thing_id"],
					o["thumbnail"], featured, shown)
			}
		}
		check("at first", nil, ids[1])
		bob.Do("PATCH", path, servertest.Object{"featured_thing_id": ids[0]}).Want(t, 200)
		check("featured", float64(ids[0]), ids[0])
		bob.Do("PATCH", path, servertest.ReadObject(t, bob.Get(path))).Want(t, 200)
		check("the whole sent back", float64(ids[0]), ids[0])
		r := bob.Do("PATCH", path, servertest.Object{"featured_thing_id": ids[2]}).Want(t, 400)
		if !strings.Contains(string(r.Bytes), `"message":"featured_thing_id: thing `) {
			t.Errorf("a thing elsewhere: %s", r.Bytes)
		}
		ada.Do("PATCH", path, servertest.Object{"featured_thing_id": ids[1]}).Want(t, 403)
		bob.Do("DELETE", fmt.Sprintf("%s/thing/%d", path, ids[0]), nil).Want(t, 200)
		check("taken out", nil, ids[1])
		bob.Do("PATCH", path, servertest.Object{"featured_thing_id": ids[1]}).Want(t, 200)
		bob.Do("PATCH", path, servertest.Object{"featured_thing_id": 0}).Want(t, 200)
		check("none", nil, ids[1])
	})
}

// TestLastActive checks that last_active is the hour of the last authenticated request, and is
// written at most once an hour.
func TestLastActive(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		db := servertest.OpenDB(t, s).SQL()
		ctx := context.Background()
		if _, err := db.Exec("UPDATE users SET created_at = '2026-01-01 00:00:00+00:00'"); err != nil {
			t.Fatal(err)
		}
		active := func(name string) time.Time {
			t.Helper()
			if err := s.Store.Activity.SaveActivity(ctx); err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse("2006-01-02T15:04:05+00:00",
				fmt.Sprint(servertest.ReadObject(t, ada.Get("/users/"+name))["last_active"]))
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		registered := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if got := active("bob"); !got.Equal(registered) {
			t.Errorf("before any request: %s, want when they registered", got)
		}
		bob.Get("/users/me").Want(t, 200)
		first := active("bob")
		if !first.After(registered) || !first.Equal(first.Truncate(time.Hour)) {
			t.Errorf("after a request: %s, want the hour", first)
		}
		for _, c := range []struct {
			kept    time.Time
			changes bool
		}{{time.Now().Add(-50 * time.Minute), false}, {time.Now().Add(-70 * time.Minute), true}} {
			if _, err := db.Exec("UPDATE users SET last_active_at = '" + c.kept.UTC().Format("2006-01-02 15:04:05+00:00") +
				"' WHERE username = 'bob'"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(1100 * time.Millisecond) // as long as the result of a token check is cached
			bob.Get("/users/me").Want(t, 200)
			if got := active("bob"); got.After(c.kept) != c.changes {
				t.Errorf("kept %s, then a request: %s, want a change: %v", c.kept, got, c.changes)
			}
		}
	})
}

// TestListsOfWholeThings checks that lists that are documented as complete things, and makes, have
// complete things.
func TestListsOfWholeThings(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		ids := servertest.FullThing(t, s, ada, bob)
		thing, first := ids["thing_id"], 1
		whole := servertest.ReadObject(t, ada.Get(fmt.Sprint("/things/", thing)))
		for _, path := range []string{
			"/users/ada/things", "/users/bob/likes", "/users/bob/favorites", "/tags/wall_mount/things",
			"/categories/parts/things",
			fmt.Sprintf("/things/%d/derivatives", first), "/users/ada/downloads", "/copies", "/users/bob/copies",
			fmt.Sprint("/things/", thing, "/copies"),
		} {
			var list []servertest.Object
			ada.Get(path).Want(t, 200, &list)
			if len(list) != 1 {
				t.Fatalf("%s: %d entries, want 1", path, len(list))
			}
			got := list[0]
			if of, isMake := got["thing"].(servertest.Object); isMake {
				got = of
			}
			for field, want := range whole {
				got, _ := json.Marshal(got[field])
				expected, _ := json.Marshal(want)
				if field != "is_liked" && string(got) != string(expected) {
					t.Errorf("%s: %s is %s, want %s", path, field, got, expected)
				}
			}
		}
	})
}
