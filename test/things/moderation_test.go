package things_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/test/servertest"
)

// moderator makes a user a moderator and returns a client that acts as one.
func moderator(t *testing.T, s *servertest.Server, admin *servertest.Client, name string) *servertest.Client {
	t.Helper()
	s.User(name)
	admin.Query(`mutation ($name: String!) { setUserRole(input: {username: $name, role: MODERATOR, reason: "Knows how."}) { user { role } } }`, servertest.Object{"name": name}, new(any))
	return s.Client(s.Token(name, auth.Read, auth.Write, auth.Admin))
}

// TestSuspension checks that a suspended user can only read, with any token and immediately, and
// cannot sign in, until the suspension is lifted.
func TestSuspension(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		admin := s.Administrator()
		mod := moderator(t, s, admin, "mod")
		b, ada := servertest.SignedIn(t, s, "ada")
		bob := s.User("bob")
		thing := ada.Thing("Draft")
		b.Get("/login").Want(t, 200)
		const suspend = `mutation ($name: String!, $reason: String!) { suspendUser(input: {username: $name, reason: $reason}) { user { suspension { reason createdAt } } } }`
		for name, try := range map[string]struct {
			by         *servertest.Client
			whom, why  string
			want, text string
		}{
			"by a member":       {bob, "ada", "x", "FORBIDDEN", "moderator"},
			"without the scope": {s.Client(s.Token("mod", auth.Read, auth.Write)), "ada", "x", "FORBIDDEN", "scope"},
			"for nothing":       {mod, "ada", " ", "BAD_USER_INPUT", "reason"}, "himself": {mod, "mod", "x", "BAD_USER_INPUT",
				"yourself"}, "an administrator": {mod, "staff", "x", "FORBIDDEN", "requires an administrator"},
			"nobody": {mod, "nobody", "x", "NOT_FOUND", "exist"}, "with too long a reason": {mod, "ada",
				strings.Repeat("x", 2001), "BAD_USER_INPUT", "2000"},
		} {
			r := try.by.GraphQL(suspend, servertest.Object{"name": try.whom, "reason": try.why})
			if r.Code() != try.want || !strings.Contains(r.Errors[0].Message, try.text) {
				t.Errorf("%s: %+v, want %s about %s", name, r.Errors, try.want, try.text)
			}
		}
		ada.Get("/users/me").Want(t, 200)
		mod.Query(suspend, servertest.Object{"name": "ada", "reason": "Spam."}, new(any))

		ada.Get("/users/me").Want(t, 200)
		ada.Get("/newest").Want(t, 200)
		for path, method := range map[string]string{"/things/": "POST", fmt.Sprintf("/things/%d/publish", thing): "POST",
			fmt.Sprintf("/things/%d", thing): "DELETE"} {
			r := ada.Do(method, path, servertest.Object{"name": "x", "license": "cc", "category": "Art"}).Want(t, 403)
			if !strings.Contains(string(r.Bytes), "suspended and can only read: Spam.") {
				t.Errorf("%s %s: %s", method, path, r.Bytes)
			}
		}
		ada.PostForm("/files/0/uploadFile", nil, "file", "a.stl", []byte("solid")).Want(t, 403)
		if code := ada.GraphQL(`mutation { createToken(input: {name: "x", scopes: [READ]}) { secret } }`, nil).
			Code(); code != "FORBIDDEN" {
			t.Errorf("a token of one who is suspended: %q", code)
		}
		if page := b.Get("/login"); !strings.Contains(string(page.Bytes), `name="password"`) {
			t.Errorf("still signed in: %s", page.Bytes)
		}
		if r := b.SignIn("ada", servertest.Password).Want(t, 403); !strings.Contains(string(r.Bytes), "suspended: Spam.") ||
			len(r.Cookies()) > 0 {
			t.Errorf("signs in: %s", r.Bytes)
		}
		if r := b.SignIn("ada", "wrong horse").Want(t, 403); strings.Contains(string(r.Bytes), "suspended") {
			t.Errorf("a wrong password reveals the suspension: %s", r.Bytes)
		}
		var seen struct {
			User struct{ Suspension *struct{ Reason string } }
		}
		for who, c := range map[string]*servertest.Client{"ada": ada, "mod": mod, "bob": bob} {
			c.Query(`{ user(username: "ada") { suspension { reason } } }`, nil, &seen)
			if got := seen.User.Suspension != nil; got != (who != "bob") {
				t.Errorf("%s sees %+v", who, seen)
			}
			seen.User.Suspension = nil
		}

		mod.Query(`mutation { unsuspendUser(input: {username: "ada", reason: "It was not she."}) { user { suspension { reason } } } }`, nil, new(any))
		ada.Thing("Another")
		b.SignIn("ada", servertest.Password).Want(t, http.StatusSeeOther)
	})
}

// TestRoles checks that administrators can assign roles, that roles take effect immediately, and
// that each decision is recorded.
func TestRoles(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		admin := s.Administrator()
		mod := moderator(t, s, admin, "mod")
		bob := s.User("bob")
		const set = `mutation ($name: String!, $role: Role!) { setUserRole(input: {username: $name, role: $role, reason: "Because."}) { user { role } } }`
		for name, by := range map[string]*servertest.Client{"a member": bob, "a moderator": mod} {
			if code := by.GraphQL(set, servertest.Object{"name": "bob", "role": "ADMINISTRATOR"}).Code(); code != "FORBIDDEN" {
				t.Errorf("%s assigns roles: %q", name, code)
			}
		}
		if code := admin.GraphQL(set, servertest.Object{"name": "staff", "role": "MEMBER"}).Code(); code != "BAD_USER_INPUT" {
			t.Errorf("the last administrator resigns: %q", code)
		}
		if code := mod.GraphQL(`{ applications { name } }`, nil).Code(); code != "FORBIDDEN" {
			t.Errorf("a moderator sees applications: %q", code)
		}
		var user map[string]any
		mod.Get("/users/mod").Want(t, 200, &user)
		if user["is_moderator"] != true || user["is_admin"] != false {
			t.Errorf("by REST: %v", user)
		}
		mod.Query(`{ moderationLog { nodes { id } } }`, nil, new(any))
		admin.Query(set, servertest.Object{"name": "mod", "role": "MEMBER"}, new(any))
		if code := mod.GraphQL(`{ moderationLog { nodes { id } } }`, nil).Code(); code != "FORBIDDEN" {
			t.Errorf("who is no moderator any more: %q", code)
		}
		admin.Query(set, servertest.Object{"name": "bob", "role": "ADMINISTRATOR"}, new(any))
		var log struct {
			ModerationLog struct {
				TotalCount int
				Nodes      []struct {
					Action, Role, Reason string
					Actor, User          struct{ Username string }
					ThingID              *string
				}
			}
		}
		admin.Query(`{ moderationLog(first: 2) { totalCount nodes { action role reason createdAt actor { username } user { username } thingId thing { id } } } }`, nil, &log)
		if got, want := fmt.Sprint(log),
			"{{4 [{SET_USER_ROLE ADMINISTRATOR Because. {staff} {bob} <nil>} {SET_USER_ROLE MEMBER Because. {staff} {mod} <nil>}]}}"; got != want {
			t.Errorf("the log is %s, want %s", got, want)
		}
		if _, err := s.Store.Account.Admin().CreateToken(context.Background(), "mod", "x", auth.Scopes{auth.Admin},
			0); err == nil {
			t.Error("a member has a token with the scope admin")
		}
	})
}

// TestDecisionOfNotification checks that users find the decision in the notification about it, and
// that other notifications have none.
func TestDecisionOfNotification(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, staff := s.User("ada"), s.User("bob"), s.Administrator()
		id := servertest.ID(servertest.PublishedThing(t, ada, "Vase"))
		bob.Query(`mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } }`, servertest.Object{"id": id},
			new(any))
		staff.Query(`mutation ($id: ID!) {
			down: takeDownThing(input: {id: $id, reason: "A weapon."}) { thing { id } } up: restoreThing(input: {id: $id, reason: "A vase."}) { thing { id } }
			role: setUserRole(input: {username: "ada", role: MODERATOR, reason: "Knows how."}) { user { id } }
		}`, servertest.Object{"id": id}, new(any))
		var seen struct {
			Me struct {
				Notifications struct {
					Nodes []struct {
						Kind     string
						Decision *struct{ Action, Role, Reason string }
					}
				}
			}
		}
		ada.Query(`{ me { notifications { nodes { kind decision { action role reason } } } } }`, nil, &seen)
		var got []string
		for _, n := range seen.Me.Notifications.Nodes {
			got = append(got, n.Kind)
			if n.Decision != nil {
				got = append(got, fmt.Sprint(*n.Decision))
			}
		}
		want := []string{"MODERATION", "{SET_USER_ROLE MODERATOR Knows how.}", "MODERATION", "{RESTORE_THING  A vase.}",
			"MODERATION", "{TAKE_DOWN_THING  A weapon.}", "LIKE"}
		if !slices.Equal(got, want) {
			t.Errorf("the notifications are %q, want %q", got, want)
		}
	})
}

// TestTakedown checks that a taken-down thing disappears from every list and search, that its
// content is not served at any URL, that its owner and moderators see the reason, and that it is
// complete again after it is restored.
func TestTakedown(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, eve := s.User("ada"), s.User("bob"), s.User("eve")
		world := servertest.FullThing(t, s, ada, bob) // it also creates moderators
		admin := s.Client(s.Token("staff", auth.Read, auth.Write, auth.Admin))
		mod := moderator(t, s, admin, "mod")
		id, file := world["thing_id"].(int64), world["file_id"].(int64)
		path := fmt.Sprintf("/things/%d", id)
		bob.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, 302)
		signed := bob.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, 302).Header.Get("Location")
		s.Fold()
		before := servertest.EveryLookup(s, eve, world)
		history := string(bob.Get("/users/me/downloads").Bytes)

		const down = `mutation ($id: ID!, $reason: String!) { takeDownThing(input: {id: $id, reason: $reason}) { thing { state takedown { reason createdAt } } } }`
		const up = `mutation ($id: ID!) { restoreThing(input: {id: $id, reason: "It was a mistake."}) { thing { state takedown { reason } } } }`
		for name, by := range map[string]*servertest.Client{"the owner": ada, "a member": bob} {
			if code := by.GraphQL(down, servertest.Object{"id": servertest.ID(id), "reason": "x"}).Code(); code != "FORBIDDEN" {
				t.Errorf("takedown by %s: %q", name, code)
			}
		}
		if code := mod.GraphQL(down, servertest.Object{"id": "9999", "reason": "x"}).Code(); code != "NOT_FOUND" {
			t.Errorf("nothing is taken down: %q", code)
		}
		for range 2 { // the second time changes nothing
			mod.Query(down, servertest.Object{"id": servertest.ID(id), "reason": "A secret weapon."}, new(any))
		}
		s.Fold()

		for _, c := range []*servertest.Client{eve, bob} {
			r := c.Get(path).Want(t, 403)
			if text := string(r.Bytes); !strings.Contains(text, "taken down") || strings.Contains(text, "secret weapon") {
				t.Errorf("others see %s", text)
			}
		}
		for _, c := range []*servertest.Client{ada, mod} {
			var seen struct {
				Thing struct {
					State    string
					Takedown *struct{ Reason string }
				}
			}
			c.Query(`query ($id: ID!) { thing(id: $id) { state takedown { reason } } }`,
				servertest.Object{"id": servertest.ID(id)}, &seen)
			if seen.Thing.Takedown == nil || seen.Thing.Takedown.Reason != "A secret weapon." || seen.Thing.State != "DRAFT" {
				t.Errorf("the owner and the administrator see %+v", seen)
			}
		}
		nobody := s.Client("")
		for _, address := range []string{signed, fmt.Sprintf("/download:%d", file), fmt.Sprintf("/blobs/%d/part.stl", file)} {
			nobody.Get(address).Want(t, 403)
		}
		for _, c := range []*servertest.Client{ada, bob, eve, mod} {
			c.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, 403)
		}
		if r := ada.Do("POST", path+"/publish", nil).Want(t, 403); !strings.Contains(string(r.Bytes), "A secret weapon.") {
			t.Errorf("the owner who publishes it sees %s", r.Bytes)
		}
		if code := admin.GraphQL(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(id)}).Code(); code != "BAD_USER_INPUT" {
			t.Errorf("it is featured: %q", code)
		}
		for _, who := range []*servertest.Client{eve, bob} {
			for lookup, body := range servertest.EveryLookup(s, who, world) {
				if strings.Contains(body, fmt.Sprintf(`/things/%d"`, id)) || strings.Contains(body, "*Holds*") {
					t.Errorf("%s shows it: %.300s", lookup, body)
				}
			}
		}
		if got := string(bob.Get("/users/me/downloads").Want(t, 200).Bytes); strings.Contains(got, path) || got == history {
			t.Errorf("bob's history shows it: %s", got)
		}
		// bob sees the make of the thing, but not the thing.
		var makes struct {
			Me struct {
				Makes struct {
					Nodes []struct{ Thing *struct{ ID string } }
				}
			}
		}
		bob.Query(`{ me { makes { nodes { thing { id } } } downloads { totalCount nodes { thing { id } } } } }`, nil, &makes)
		if n := makes.Me.Makes.Nodes; len(n) != 1 || n[0].Thing != nil {
			t.Errorf("bob's makes are %+v", n)
		}
		servertest.SoundCounts(t, s)

		mod.Query(up, servertest.Object{"id": servertest.ID(id)}, new(any))
		s.Fold()
		after := servertest.EveryLookup(s, eve, world)
		for lookup, body := range before {
			// Except that it is no longer featured, everything is as before.
			if after[lookup] != body && !strings.Contains(lookup, "featured") && !strings.Contains(body, `"is_featured":true`) {
				t.Errorf("%s changed\nfrom %.600s\nto   %.600s", lookup, body, after[lookup])
			}
		}
		nobody.Get(fmt.Sprintf("/download:%d", file)).Want(t, 200)
		ada.Get(path).Want(t, 200)
		servertest.SoundCounts(t, s)

		// A draft that was taken down and restored is a draft again.
		draft := ada.Thing("Draft")
		mod.Query(down, servertest.Object{"id": servertest.ID(draft), "reason": "x"}, new(any))
		mod.Query(up, servertest.Object{"id": servertest.ID(draft)}, new(any))
		eve.Get(fmt.Sprintf("/things/%d", draft)).Want(t, 403)
		// The log entries remain after the thing is deleted.
		ada.Do("DELETE", path, nil).Want(t, 200)
		var log struct {
			ModerationLog struct {
				Nodes []struct {
					Action  string
					ThingID *string
					Thing   *struct{ ID string }
				}
			}
		}
		mod.Query(`{ moderationLog { nodes { action thingId thing { id } user { username } } } }`, nil, &log)
		if n := log.ModerationLog.Nodes; len(n) != 8 || n[2].Action != "RESTORE_THING" || n[2].ThingID == nil ||
			*n[2].ThingID != servertest.ID(id) || n[2].Thing != nil || n[0].Thing == nil {
			t.Errorf("the log is %+v", n)
		}
	})
}

// TestRestoredWithoutModel checks that a thing is restored as a draft if its only model was removed
// while it was taken down, and otherwise as it was.
func TestRestoredWithoutModel(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, admin := s.User("ada"), s.Administrator()
		const state = `{ thing { state } }`
		act := func(c *servertest.Client, mutation string, args ...any) (state string) {
			t.Helper()
			var of map[string]struct{ Thing struct{ State string } }
			c.Query(fmt.Sprintf("mutation { did: "+mutation+" }", args...), nil, &of)
			return of["did"].Thing.State
		}
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		for name, c := range map[string]struct {
			publish string // the state
			models  int
			remove  func(thing, file int64)
			want    string
		}{
			"deleted by GraphQL": {"PUBLISHED", 1, func(_, file int64) {
				act(admin, `deleteFile(input: {id: %d, reason: "Not yours."}) { deletedId }`, file)
			}, "DRAFT"},
			"deleted by REST": {"PUBLISHED", 1, func(thing, file int64) {
				admin.Do("DELETE", fmt.Sprintf("/things/%d/files/%d", thing, file), servertest.Object{"reason": "Not yours."}).
					Want(t, 200)
			}, "DRAFT"},
			"deleted from an unlisted thing": {"UNLISTED", 1, func(_, file int64) {
				act(admin, `deleteFile(input: {id: %d, reason: "Not yours."}) { deletedId }`, file)
			}, "DRAFT"},
			"one of two": {"PUBLISHED", 2, func(_, file int64) {
				act(admin, `deleteFile(input: {id: %d, reason: "Not yours."}) { deletedId }`, file)
			}, "PUBLISHED"},
			"none": {"UNLISTED", 1, func(int64, int64) {}, "UNLISTED"},
		} {
			thing := ada.Thing(name)
			var file int64
			for range c.models {
				file = ada.Upload("a.stl", stl)
				ada.Finalize("thing", thing, file).Want(t, 200)
			}
			ada.Do("PATCH", fmt.Sprint("/things/", thing), servertest.Object{"description": "Something."}).Want(t, 200)
			if got := act(ada, `publishThing(input: {id: %d, state: %s}) `+state, thing, c.publish); got != c.publish {
				t.Fatalf("%s: published as %s", name, got)
			}
			act(admin, `takeDownThing(input: {id: %d, reason: "A copy."}) `+state, thing)
			c.remove(thing, file)
			if got := act(admin, `restoreThing(input: {id: %d, reason: "Resolved."}) `+state, thing); got != c.want {
				t.Errorf("model %s: restored as %s, want %s", name, got, c.want)
			}
		}
		s.Fold()
		if changed, err := s.Store.Maintenance.Recount(context.Background()); changed != 0 || err != nil {
			t.Errorf("a recount changed %d counts (%v), want 0", changed, err)
		}
		servertest.SoundCatalogue(t, s)
	})
}

// TestTakedownURLs checks that the creator of a taken-down thing and moderators can fetch its files
// and previews at the signed URLs that they get, but not at those issued before the takedown.
func TestTakedownURLs(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, admin, nobody := s.User("ada"), s.Administrator(), s.Client("")
		thing := ada.Thing("Weapon")
		files := []int64{ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl")),
			ada.Upload("b.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))}
		ada.Finalize("thing", thing, files...).Want(t, 200)
		type shown struct {
			Thing struct {
				Files []struct {
					ID, DirectURL      string
					ThreejsURL, GlbURL *string
					Thumbnail          *struct{ URL string }
				}
				Images []struct{ Thumbnail *struct{ URL string } }
			}
		}
		urls := func(c *servertest.Client) (found []string) {
			var seen shown
			c.Query(`query ($id: ID!) { thing(id: $id) { files { id directUrl threejsUrl glbUrl thumbnail { url } } images { thumbnail(width: 128, height: 128, format: JPEG) { url } } } }`,
				servertest.Object{"id": servertest.ID(thing)}, &seen)
			for _, f := range seen.Thing.Files {
				_, query, _ := strings.Cut(f.DirectURL, "?")
				found = append(found, f.DirectURL, s.URL+"/view/"+f.ID+"?"+query, f.Thumbnail.URL)
				if f.ThreejsURL != nil {
					found = append(found, *f.ThreejsURL, *f.GlbURL)
				}
			}
			for _, image := range seen.Thing.Images {
				found = append(found, image.Thumbnail.URL)
			}
			if len(found) != 10 {
				t.Fatalf("got the URLs %q, want 10", found)
			}
			return found
		}
		fetched := func(when string, status int, addresses []string) {
			t.Helper()
			for _, address := range addresses {
				r := nobody.Get(address)
				if cached := r.Header.Get("Cache-Control"); r.StatusCode != status || strings.Contains(cached, "public") {
					t.Errorf("%s: %s has status %d and Cache-Control %q, want %d, not public", when, address, r.StatusCode, cached,
						status)
				}
			}
		}
		for _, id := range files {
			servertest.Settled(t, ada, id)
		}
		before := urls(ada)
		fetched("a draft", 200, before)
		admin.Query(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "A weapon."}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, new(any))
		fetched("issued before the takedown", 403, before)
		for _, c := range []*servertest.Client{ada, admin} {
			after := urls(c)
			fetched("issued during the takedown", 200, after)
			for i, address := range after {
				after[i], _, _ = strings.Cut(address, "?")
			}
			fetched("without the signature", 403, after)
		}
		during := urls(ada)
		admin.Query(`mutation ($id: ID!) { restoreThing(input: {id: $id, reason: "A toy."}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, new(any))
		fetched("issued during the takedown, after the restoration", 200, during)
	}, servertest.Derives)
}

// TestTakedownIsKept checks that a taken-down thing stays unchanged and hidden until it is
// restored. Its owner cannot change or delete it or any part of it. If a moderator deletes it, its
// makes stay hidden with their content.
func TestTakedownIsKept(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, eve, admin := s.User("ada"), s.User("bob"), s.User("eve"), s.Administrator()
		stl, png := servertest.Mesh(t, "hschendel_simple_bin.stl"), servertest.Mesh(t, "lib3mf_thumbnail.png")
		thing := ada.Thing("Weapon")
		file, extra, pending := ada.Upload("a.stl", stl), ada.Upload("b.stl", stl), ada.Upload("c.stl", stl)
		ada.Finalize("thing", thing, file, extra).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		made := servertest.Stage(t, bob, fmt.Sprintf("/things/%d/copies", thing), "made.png")
		made.Post(bob, png).Want(t, 200)
		var picture struct{ ID int64 }
		bob.Do("POST", made.Fields["success_action_redirect"], nil).Want(t, 200, &picture)
		staged := servertest.Stage(t, ada, fmt.Sprintf("/things/%d/files", thing), "d.stl")
		staged.Post(ada, stl).Want(t, 200)
		eve.Get("/copies/1").Want(t, 200)
		path := fmt.Sprintf("/things/%d", thing)
		admin.Query(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "A weapon."}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, new(any))

		for name, r := range map[string]*servertest.Response{
			"changing it":              ada.Do("PATCH", path, servertest.Object{"name": "A vase"}),
			"deleting it":              ada.Do("DELETE", path, nil),
			"deleting a file":          ada.Do("DELETE", fmt.Sprintf("%s/files/%d", path, extra), nil),
			"adding a file":            ada.Finalize("thing", thing, pending),
			"finalizing a staged file": ada.Do("POST", staged.Fields["success_action_redirect"], nil),
			"staging another":          ada.Do("POST", path+"/files", servertest.Object{"filename": "x.stl"}),
		} {
			if r.StatusCode != 403 || !strings.Contains(string(r.Bytes), "taken down") {
				t.Errorf("%s: %d %s, want 403", name, r.StatusCode, r.Bytes)
			}
		}
		eve.Get("/copies/1").Want(t, 403)
		download := fmt.Sprintf("/files/%d/download", picture.ID)
		admin.Do("DELETE", path, nil).Want(t, 200)
		s.Fold()
		for _, c := range []*servertest.Client{eve, ada} {
			c.Get("/copies/1").Want(t, 403)
		}
		for _, c := range []*servertest.Client{eve, ada, bob, admin} {
			c.Get(download).Want(t, 403)
		}
		s.Client("").Get(fmt.Sprintf("/download:%d", picture.ID)).Want(t, 403)
		if list := eve.Get("/copies").Want(t, 200); strings.Contains(string(list.Bytes), "Weapon") {
			t.Errorf("the make is listed: %s", list.Bytes)
		}
		bob.Get("/copies/1").Want(t, 200)
		again := bob.Upload("again.png", png)
		bob.Finalize("copy", 1, again).Want(t, 403)
		bob.Do("PATCH", "/copies/1", servertest.Object{"description": "x"}).Want(t, 403)
		bob.Do("DELETE", "/copies/1", nil).Want(t, 403)
		eve.Get("/copies/1").Want(t, 403)
		s.Fold()
		servertest.SoundCounts(t, s)
		admin.Do("DELETE", "/copies/1", nil).Want(t, 200)
	})
}

// TestDeletionsByModeratorsAreLogged checks that the moderation log records deletions by
// moderators, and not those by owners.
func TestDeletionsByModeratorsAreLogged(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		world := servertest.FullThing(t, s, ada, bob)
		admin := s.Client(s.Token("staff", auth.Read, auth.Write, auth.Admin))
		thing, file := world["thing_id"].(int64), world["file_id"].(int64)
		var made struct {
			CreateComment struct{ Comment struct{ ID string } }
		}
		bob.Query(`mutation ($id: ID!) { createComment(input: {target: {type: THING, id: $id}, body: "Spam"}) { comment { id } } }`, servertest.Object{"id": servertest.ID(thing)}, &made)
		own := bob.Thing("His")
		bob.Do("DELETE", fmt.Sprintf("/things/%d", own), nil).Want(t, 200)
		const remove = `mutation ($id: ID!, $reason: String!) { deleteComment(input: {id: $id, reason: $reason}) { comment { id } } }`
		if r := admin.GraphQL(remove, servertest.Object{"id": made.CreateComment.Comment.ID, "reason": " "}); r.Code() != "BAD_USER_INPUT" || r.Errors[0].Extensions.Field != "reason" {
			t.Errorf("a deletion without a reason: %+v", r.Errors)
		}
		admin.Query(remove, servertest.Object{"id": made.CreateComment.Comment.ID, "reason": "Spam."}, new(any))
		admin.Do("DELETE", fmt.Sprintf("/things/%d/files/%d", thing, file), nil).Want(t, 200)
		admin.Do("DELETE", "/copies/1", nil).Want(t, 200)
		admin.Do("DELETE", fmt.Sprintf("/things/%d", thing), nil).Want(t, 200)
		var log struct {
			ModerationLog struct {
				Nodes []struct {
					Action                    string
					Actor, User               struct{ Username string }
					ThingID, ObjectID, Reason string
				}
			}
		}
		// The oldest entry is the administrator's role, which was assigned on the command line.
		admin.Query(`{ moderationLog { nodes { action actor { username } user { username } thingId objectId reason } } }`, nil, &log)
		want := fmt.Sprintf("[{DELETE_THING {staff} {ada} %[1]d  Deleted by the REST API.} {DELETE_MAKE {staff} {bob} %[1]d 1 Deleted by the REST API.} {DELETE_FILE {staff} {ada} %[1]d %[2]d Deleted by the REST API.} "+
			"{DELETE_COMMENT {staff} {bob} %[1]d %[3]s Spam.} {FEATURE_THING {staff} {ada} %[1]d  } {SET_USER_ROLE {} {staff}   By the operator, on the command line.}]", thing, file, made.CreateComment.Comment.ID)
		if got := fmt.Sprint(log.ModerationLog.Nodes); got != want {
			t.Errorf("the log is\n%s, want\n%s", got, want)
		}
	})
}

// TestLeaveTakenDownThing checks that users who cannot see a thing any more do not see its makes
// in their notifications, and can remove their likes and watches.
func TestLeaveTakenDownThing(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, eve, admin := s.User("ada"), s.User("bob"), s.User("eve"), s.Administrator()
		id := servertest.ID(servertest.PublishedThing(t, ada, "Vase"))
		for _, c := range []*servertest.Client{eve, bob} {
			c.Query(`mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } watchThing(input: {id: $id}) { thing { id } } }`, servertest.Object{"id": id}, new(any))
		}
		bob.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id } } }`, servertest.Object{"id": id}, new(any))
		seen := func(c *servertest.Client) (names []string) {
			t.Helper()
			var me struct {
				Me struct {
					Notifications struct {
						Nodes []struct{ Target *struct{ Name string } }
					}
				}
			}
			c.Query(`{ me { notifications { nodes { target { ... on Make { name } } } } } }`, nil, &me)
			for _, n := range me.Me.Notifications.Nodes {
				if n.Target != nil && n.Target.Name != "" {
					names = append(names, n.Target.Name)
				}
			}
			return names
		}
		if got := seen(eve); len(got) != 1 {
			t.Fatalf("the notifications of eve, who watches the thing, show %q, want one make", got)
		}
		admin.Query(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "A copy."}) { thing { id } } }`, servertest.Object{"id": id}, new(any))
		if got := seen(eve); len(got) != 0 {
			t.Errorf("the notifications of eve show %q after the takedown", got)
		}
		likes := func() int {
			t.Helper()
			s.Fold()
			var v struct{ Thing struct{ LikeCount int } }
			admin.Query(`query ($id: ID!) { thing(id: $id) { likeCount } }`, servertest.Object{"id": id}, &v)
			return v.Thing.LikeCount
		}
		eve.Query(`mutation ($id: ID!) { unlikeThing(input: {id: $id}) { thing { id } } unwatchThing(input: {id: $id}) { thing { id } } }`, servertest.Object{"id": id}, new(any))
		if got := likes(); got != 1 {
			t.Errorf("%d likes, want 1", got)
		}
		for _, what := range []string{"LIKE", "WATCH"} {
			toggle := `mutation ($id: ID!) { toggle(input: {what: ` + what + `, target: {type: THING, id: $id}}) { isOn } }`
			var v struct{ Toggle struct{ IsOn bool } }
			bob.Query(toggle, servertest.Object{"id": id}, &v)
			if r := bob.GraphQL(toggle, servertest.Object{"id": id}); v.Toggle.IsOn || r.Code() != "FORBIDDEN" {
				t.Errorf("toggle of %s: %+v, then %+v, want FORBIDDEN", what, v, r.Errors)
			}
		}
		if got := likes(); got != 0 {
			t.Errorf("%d likes, want 0", got)
		}
	})
}

// TestOwnersRemoveComments checks that the owner of a thing or a make can delete comments of other
// users on it, and that this is not recorded as a moderation action.
func TestOwnersRemoveComments(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, eve, admin := s.User("ada"), s.User("bob"), s.User("eve"), s.Administrator()
		thing := servertest.PublishedThing(t, ada, "Vase")
		var made struct {
			CreateMake struct{ Make struct{ ID string } }
		}
		bob.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id } } }`, servertest.Object{"id": servertest.ID(thing)}, &made)
		const remove = `mutation ($id: ID!) { deleteComment(input: {id: $id}) { comment { isDeleted body } } }`
		for on, c := range map[string]struct {
			id    string
			owner *servertest.Client
			other *servertest.Client
		}{"THING": {servertest.ID(thing), ada, bob}, "MAKE": {made.CreateMake.Make.ID, bob, ada}} {
			var v struct {
				CreateComment struct{ Comment struct{ ID string } }
				DeleteComment struct{ Comment struct{ IsDeleted bool } }
			}
			eve.Query(`mutation ($id: ID!, $on: TargetType!) { createComment(input: {target: {type: $on, id: $id}, body: "Rude."}) { comment { id } } }`, servertest.Object{"id": c.id, "on": on}, &v)
			id := servertest.Object{"id": v.CreateComment.Comment.ID}
			if r := c.other.GraphQL(remove, id); r.Code() != "FORBIDDEN" {
				t.Errorf("%s, by another user: %+v", on, r.Errors)
			}
			c.owner.Query(remove, id, &v)
			if !v.DeleteComment.Comment.IsDeleted {
				t.Errorf("%s: the comment stays", on)
			}
		}
		var log struct{ ModerationLog struct{ TotalCount int } }
		admin.Query(`{ moderationLog { totalCount } }`, nil, &log)
		if log.ModerationLog.TotalCount != 1 {
			t.Errorf("%d entries in the log, want only the role of the administrator", log.ModerationLog.TotalCount)
		}
	})
}
