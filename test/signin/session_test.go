package signin_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// sessionOf returns the session cookie of a browser, for requests that do not come from that
// browser.
func sessionOf(t *testing.T, b *servertest.Browser) *http.Cookie {
	t.Helper()
	r, err := http.NewRequest("GET", b.URL+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range b.Cookies(r.URL) {
		if c.Name == "meshyard_session" {
			return c
		}
	}
	t.Fatal("the browser has no session")
	return nil
}

// TestSignInEndsThePreviousSession checks that a sign-in in a browser that has a session, also of
// another user, ends that session.
func TestSignInEndsThePreviousSession(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b := s.Browser()
		var secrets []string
		for _, name := range []string{"ada", "bob"} {
			s.User(name)
			s.Password(name, servertest.Password)
			b.SignIn(name, servertest.Password).Want(t, http.StatusSeeOther)
			secrets = append(secrets, sessionOf(t, b).Value)
		}
		for i, want := range []bool{false, true} {
			if who, ok, err := s.Store.Account.Session(t.Context(), secrets[i]); ok != want || err != nil {
				t.Errorf("session %d: %+v, %t (%v), want %t", i, who, ok, err, want)
			}
		}
	})
}

// TestSessionForAPI checks that the session of a browser counts for the API only if a page of the
// server sends the request.
func TestSessionForAPI(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, ada := servertest.SignedIn(t, s, "ada")
		bob := s.User("bob")
		cookie := sessionOf(t, b)
		var found struct{ Me struct{ ID string } }
		ada.Query(`{ me { id } }`, nil, &found)
		id := found.Me.ID
		const question = `{"query":"{ me { username } }"}`
		name := func(header ...string) string {
			t.Helper()
			_, response, _ := servertest.AskWith(t, "POST", s.URL+"/graphql", question, cookie, header...)
			var got struct {
				Data struct {
					Me *struct{ Username string }
				}
				Errors []struct{ Extensions struct{ Code string } }
			}
			if err := json.Unmarshal([]byte(response), &got); err != nil {
				t.Fatal(err)
			}
			if got.Data.Me != nil {
				return got.Data.Me.Username
			}
			return got.Errors[0].Extensions.Code
		}
		const session = "Meshyard-Session"
		for asker, c := range map[string]struct {
			header []string
			want   string
		}{
			"no session header":           {nil, "UNAUTHENTICATED"},
			"no session header, own page": {[]string{"Sec-Fetch-Site", "same-origin", "Origin", s.URL}, "UNAUTHENTICATED"},
			"own page": {[]string{session, "1", "Sec-Fetch-Site", "same-origin", "Origin", s.URL},
				"ada"},
			"own page over plain HTTP":       {[]string{session, "1", "Origin", s.URL}, "ada"},
			"GET of an own page, plain HTTP": {[]string{session, "1"}, "ada"},
			"another site":                   {[]string{session, "1", "Sec-Fetch-Site", "cross-site"}, "UNAUTHENTICATED"},
			"another host of the site":       {[]string{session, "1", "Sec-Fetch-Site", "same-site"}, "UNAUTHENTICATED"},
			"no page":                        {[]string{session, "1", "Sec-Fetch-Site", "none"}, "UNAUTHENTICATED"},
			"another origin, an old browser": {[]string{session, "1", "Origin", "https://elsewhere.example"},
				"UNAUTHENTICATED"},
			"a sandboxed page":               {[]string{session, "1", "Origin", "null"}, "UNAUTHENTICATED"},
			"a token has precedence":         {[]string{session, "1", "Authorization", "Bearer " + bob.Token}, "bob"},
			"a wrong token has precedence":   {[]string{session, "1", "Authorization", "Bearer x"}, "UNAUTHENTICATED"},
			"a page of the user":             {[]string{session, "ada", "Sec-Fetch-Site", "same-origin"}, "ada"},
			"a page of another user":         {[]string{session, "bob", "Sec-Fetch-Site", "same-origin"}, "UNAUTHENTICATED"},
			"a page of the user with the ID": {[]string{session, "id:" + id, "Sec-Fetch-Site", "same-origin"}, "ada"},
			"a page of another ID": {[]string{session, "id:0" + id, "Sec-Fetch-Site", "same-origin"},
				"UNAUTHENTICATED"},
			"an own page, with a token's user": {[]string{session, "1", "Sec-Fetch-Site", "same-origin", "Authorization",
				"Bearer " + bob.Token}, "bob"},
		} {
			if got := name(c.header...); got != c.want {
				t.Errorf("%s: got %s, want %s", asker, got, c.want)
			}
		}

		if status, _, _ := servertest.AskWith(t, "GET", s.URL+"/users/me", "", cookie); status != http.StatusUnauthorized {
			t.Errorf("REST without the session header: got %d, want 401", status)
		}
		if status, response, _ := servertest.AskWith(t, "GET", s.URL+"/users/me", "", cookie, session,
			"1"); status != http.StatusOK || !strings.Contains(response, `"ada"`) {
			t.Errorf("REST with the session header: got %d %s, want 200 and ada", status, response)
		}
		const create = `{"name": "x", "license": "cc", "category": "Art"}`
		if status, response, _ := servertest.AskWith(t, "POST", s.URL+"/things/", create, cookie, session, "1",
			"Sec-Fetch-Site", "same-origin"); status != http.StatusOK {
			t.Errorf("create a thing: got %d %s, want 200", status, response)
		}
		if status, _, _ := servertest.AskWith(t, "POST", s.URL+"/things/", create, cookie, session, "1", "Sec-Fetch-Site",
			"cross-site"); status != http.StatusUnauthorized {
			t.Errorf("create a thing from another site: got %d, want 401", status)
		}
		if status, response, _ := servertest.AskWith(t, "POST", s.URL+"/things/", create, cookie, session,
			"bob"); status != http.StatusUnauthorized || !strings.Contains(response, "another user has signed in") {
			t.Errorf("create a thing on a page of another user: got %d %s, want 401", status, response)
		}

		// A page of another origin cannot send the header with the cookie: the response to the preflight
		// request does not allow credentials.
		status, _, h := servertest.AskWith(t, "OPTIONS", s.URL+"/graphql", "", nil, "Origin", "https://elsewhere.example",
			"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type,meshyard-session")
		if status >= 300 || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("the preflight: got %d, headers %v, want success without credentials", status, h)
		}

		if got := name(session, "1"); got != "ada" {
			t.Errorf("before the sign-out: got %s, want ada", got)
		}
		b.Post("/logout", nil).Want(t, http.StatusSeeOther)
		if got := name(session, "1"); got != "UNAUTHENTICATED" {
			t.Errorf("after the sign-out: got %s, want UNAUTHENTICATED", got)
		}
		if status, _, _ := servertest.AskWith(t, "GET", s.URL+"/users/me", "", cookie, session,
			"1"); status != http.StatusUnauthorized {
			t.Errorf("REST after the sign-out: got %d, want 401", status)
		}
	})
}

// TestSessionPermissions checks that a session has the permissions of its user, and ends when the
// user is suspended.
func TestSessionPermissions(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, _ := servertest.SignedIn(t, s, "ada")
		cookie := sessionOf(t, b)
		ask := func(query string) string {
			t.Helper()
			text, err := json.Marshal(map[string]string{"query": query})
			if err != nil {
				t.Fatal(err)
			}
			_, response, _ := servertest.AskWith(t, "POST", s.URL+"/graphql", string(text), cookie, "Meshyard-Session", "1")
			return response
		}
		const log = `{ moderationLog { nodes { id } } }`
		if response := ask(log); !strings.Contains(response, "FORBIDDEN") {
			t.Errorf("a member reads the moderation log: got %s, want FORBIDDEN", response)
		}
		admin := s.Administrator()
		admin.Query(`mutation { setUserRole(input: {username: "ada", role: MODERATOR, reason: "She asked."}) { user { id } } }`, nil, new(any))
		if response := ask(log); strings.Contains(response, "errors") {
			t.Errorf("a moderator reads the moderation log: got %s, want no errors", response)
		}
		if response := ask(`mutation { createToken(input: {name: "x", scopes: [READ]}) { secret } }`); !strings.Contains(
			response, "meshyard_") {
			t.Errorf("create a token: got %s, want a token", response)
		}
		admin.Query(`mutation { suspendUser(input: {username: "ada", reason: "Spam."}) { user { id } } }`, nil, new(any))
		if response := ask(`{ me { username } }`); !strings.Contains(response, "UNAUTHENTICATED") {
			t.Errorf("after the suspension: got %s, want UNAUTHENTICATED", response)
		}
	})
}

// TestUnreadableSession checks that a request fails if the session of the browser cannot be read,
// instead of being treated as one of a visitor, who would get 404 for a draft.
func TestUnreadableSession(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, ada := servertest.SignedIn(t, s, "ada")
		draft := "/thing:" + servertest.ID(ada.Thing("One"))
		paths := []string{draft, draft + "/zip", "/login/archive", "/view/1"}
		b.Get(draft).Want(t, http.StatusOK)
		rename := func(from, to string) {
			if _, err := servertest.OpenDB(t, s).SQL().Exec("ALTER TABLE " + from + " RENAME TO " + to); err != nil {
				t.Fatal(err)
			}
		}
		rename("sessions", "lost")
		defer rename("lost", "sessions") // the server saves when it was used
		for _, path := range paths {
			b.Get(path).Want(t, http.StatusInternalServerError)
		}
		b.Get("/robots.txt").Want(t, http.StatusOK)
	}, func(c *config.Settings) { c.AnonymousRead = false })
}
