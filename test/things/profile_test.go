package things_test

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestProfiles checks that a user's profile is public except for the e-mail address, and that only
// the user can change it.
func TestProfiles(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		const change = `mutation ($who: String, $email: String, $bio: String) { updateProfile(input: {username: $who, email: $email, bio: $bio, location: "London"}) { user { email bioHtml location } } }`
		var changed struct {
			UpdateProfile struct {
				User struct{ Email, BioHTML, Location string }
			}
		}
		ada.Query(change, servertest.Object{"email": "ada@example.org", "bio": "I *print*. <script>alert(1)</script>"},
			&changed)
		if u := changed.UpdateProfile.User; u.Email != "ada@example.org" || !strings.Contains(u.BioHTML, "<em>print</em>") ||
			strings.Contains(u.BioHTML, "<script") || u.Location != "London" {
			t.Errorf("after the change: %+v", u)
		}
		for name, c := range map[string]struct {
			client    *servertest.Client
			variables servertest.Object
			want      string
		}{
			"another's": {bob, servertest.Object{"who": "ada", "bio": "Mine."}, "FORBIDDEN"},
			"nobody's":  {bob, servertest.Object{"who": "carl"}, "NOT_FOUND"},
			"too long":  {bob, servertest.Object{"email": strings.Repeat("x", 201)}, "BAD_USER_INPUT"},
			"NUL":       {bob, servertest.Object{"bio": "a\u0000b"}, "BAD_USER_INPUT"},
		} {
			if got := c.client.GraphQL(change, c.variables).Code(); got != c.want {
				t.Errorf("%s profile: %q, want %q", name, got, c.want)
			}
		}
		for name, c := range map[string]*servertest.Client{"ada": ada, "bob": bob} {
			var seen struct{ User struct{ Email *string } }
			c.Query(`{ user(username: "ada") { email } }`, nil, &seen)
			record := servertest.ReadObject(t, c.Get("/users/ada"))
			_, email := record["email"]
			_, license := record["default_license"]
			if own := name == "ada"; (seen.User.Email != nil) != own || email != own || license != own {
				t.Errorf("%s sees the mail: %t in GraphQL, %t by REST; the license: %t", name, seen.User.Email != nil, email,
					license)
			}
		}
	})
}

// TestFollowing checks that a follow is counted once for both users, and that users cannot follow
// themselves.
func TestFollowing(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		call := func(c *servertest.Client, verb, name string) string {
			return c.GraphQL(`mutation ($name: String!) { `+verb+`User(input: {username: $name}) { user { id } } }`,
				servertest.Object{"name": name}).Code()
		}
		seen := func() (followers, following int, followed bool) {
			record := servertest.ReadObject(t, bob.Get("/users/ada"))
			return int(record["count_of_followers"].(float64)),
				int(servertest.ReadObject(t, bob.Get("/users/me"))["count_of_following"].(float64)), record["is_following"].(bool)
		}
		for _, step := range []struct {
			verb, name, code string
			count            int
		}{
			{"follow", "ada", "", 1}, {"follow", "ADA", "", 1}, {"unfollow", "ada", "", 0}, {"unfollow", "ada", "", 0},
			{"follow", "ada", "", 1},
			{"follow", "bob", "BAD_USER_INPUT", 1}, {"follow", "carl", "NOT_FOUND", 1},
		} {
			if got := call(bob, step.verb, step.name); got != step.code {
				t.Errorf("%s %s: %q, want %q", step.verb, step.name, got, step.code)
			}
			if followers, following, followed := seen(); followers != step.count || following != step.count ||
				followed != (step.count == 1) {
				t.Errorf("after %s %s: %d followers, %d following, followed %t; want %d", step.verb, step.name, followers,
					following, followed, step.count)
			}
		}
		var lists struct {
			Me struct {
				Followers, Following struct{ Nodes []struct{ Username string } }
			}
		}
		ada.Query(`{ me { followers { nodes { username } } following { nodes { username } } } }`, nil, &lists)
		if l := lists.Me; len(l.Followers.Nodes) != 1 || l.Followers.Nodes[0].Username != "bob" ||
			len(l.Following.Nodes) != 0 {
			t.Errorf("ada's lists: %+v", l)
		}
	})
}
