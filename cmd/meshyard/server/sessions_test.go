package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/auth"
)

// listedSession is a session as the API lists it.
type listedSession struct {
	ID, UserAgent, CreatedAt, LastUsedAt, ExpiresAt string
	Browser, System                                 *string
	IsCurrent                                       bool
}

// TestSessions checks that users can list their sessions, and sign out of other browsers.
func TestSessions(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		s.Password("ada", pass)
		s.Password("bob", pass)
		signIn := func(name, userAgent string) *http.Cookie {
			b := s.Browser()
			b.UserAgent = userAgent
			b.SignIn(name, pass).Want(t, http.StatusSeeOther)
			return sessionOf(t, b)
		}
		const (
			firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
			edge    = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"
		)
		first, second, third := signIn("ada", firefox), signIn("ada", edge), signIn("ada", strings.Repeat("x", 300))
		bobs := signIn("bob", firefox)
		ask := func(cookie *http.Cookie, document string, data any) (code string) {
			t.Helper()
			body, err := json.Marshal(object{"query": document})
			if err != nil {
				t.Fatal(err)
			}
			_, response, _ := askWith(t, "POST", s.URL+"/graphql", string(body), cookie, "Meshyard-Session", "1", "Origin", s.URL)
			got := struct {
				Data   any
				Errors []struct{ Extensions struct{ Code string } }
			}{Data: data}
			if err := json.Unmarshal([]byte(response), &got); err != nil {
				t.Fatal(err)
			}
			if len(got.Errors) > 0 {
				return got.Errors[0].Extensions.Code
			}
			return ""
		}
		list := func(cookie *http.Cookie) []listedSession {
			t.Helper()
			var got struct{ Sessions []listedSession }
			if code := ask(cookie, `{ sessions { id browser system userAgent createdAt lastUsedAt expiresAt isCurrent } }`, &got); code != "" {
				t.Fatal(code)
			}
			return got.Sessions
		}
		words := func(sessions []listedSession) string {
			var all []string
			for _, l := range sessions {
				words := "unknown"
				if l.Browser != nil && l.System != nil {
					words = *l.Browser + " on " + *l.System
				}
				if l.IsCurrent {
					words += ", current"
				}
				all = append(all, words)
			}
			slices.Sort(all)
			return strings.Join(all, "; ")
		}
		of := func(userAgent string) listedSession {
			t.Helper()
			all := list(first)
			i := slices.IndexFunc(all, func(l listedSession) bool { return l.UserAgent == userAgent })
			if i < 0 {
				t.Fatalf("no session of %s: %+v", userAgent, all)
			}
			return all[i]
		}
		if got, want := words(list(first)), "Edge on Windows; Firefox on Linux, current; unknown"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := of(strings.Repeat("x", 200)); got.ExpiresAt <= got.CreatedAt {
			t.Errorf("got %+v, want an expiry after the sign-in", got)
		}

		// The time of the last use is stored when activity is saved.
		s.Fold()
		if before, used := of(edge), list(first)[0]; used.UserAgent != firefox || used.LastUsedAt <= used.CreatedAt || before.LastUsedAt != before.CreatedAt {
			t.Errorf("got %+v first, and %+v", used, before)
		}
		var active struct {
			Me struct{ LastActiveAt *string }
		}
		if ask(bobs, `{ me { lastActiveAt } }`, &active); active.Me.LastActiveAt != nil {
			t.Errorf("bob was active %s", *active.Me.LastActiveAt)
		}
		s.Fold()
		if ask(bobs, `{ me { lastActiveAt } }`, &active); active.Me.LastActiveAt == nil {
			t.Error("a request by a session is no activity of the user")
		}

		end := func(cookie *http.Cookie, input string) string {
			t.Helper()
			return ask(cookie, `mutation { endSessions(input: `+input+`) { endedIds } }`, new(any))
		}
		if code := end(bobs, fmt.Sprintf(`{ids: [%q]}`, of(edge).ID)); code != "NOT_FOUND" {
			t.Errorf("another user's session: got %q, want NOT_FOUND", code)
		}
		if code := end(first, fmt.Sprintf(`{ids: [%q, "999999"]}`, of(edge).ID)); code != "NOT_FOUND" || len(list(second)) != 3 {
			t.Errorf("a session that does not exist: got %q, and %d sessions", code, len(list(second)))
		}
		if code := end(first, `{ids: [`+strings.Repeat(`"1",`, 101)+`]}`); code != "BAD_USER_INPUT" {
			t.Errorf("101 sessions: got %q", code)
		}
		if code := end(first, fmt.Sprintf(`{ids: [%q]}`, of(edge).ID)); code != "" {
			t.Error(code)
		}
		if code := ask(second, `{ me { id } }`, new(any)); code != "UNAUTHENTICATED" {
			t.Errorf("the session that ended: got %q", code)
		}
		if code := end(first, `{}`); code != "" || words(list(first)) != "Firefox on Linux, current" {
			t.Errorf("all others: got %q, left %s", code, words(list(first)))
		}
		if code := ask(third, `{ me { id } }`, new(any)); code != "UNAUTHENTICATED" {
			t.Errorf("another session: got %q", code)
		}
		if got := words(list(bobs)); got != "Firefox on Linux, current" {
			t.Errorf("bob has %s", got)
		}
		// With a token instead of a session, endSessions ends all sessions.
		if r := ada.GraphQL(`mutation { endSessions(input: {}) { endedIds } }`, nil); r.Code() != "" {
			t.Errorf("%+v", r.Errors)
		}
		if code := ask(first, `{ me { id } }`, new(any)); code != "UNAUTHENTICATED" {
			t.Errorf("after all have ended: got %q", code)
		}
		if got := bob.GraphQL(`{ sessions { isCurrent } }`, nil); string(got.Data) != `{"sessions":[{"isCurrent":false}]}` {
			t.Errorf("with a token: got %s", got.Data)
		}
	})
}

// TestSessionsAreBounded checks that a user has at most 100 sessions: a new one ends the one that
// was not used for the longest time.
func TestSessionsAreBounded(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		var me struct {
			Me struct {
				ID int64 `json:",string"`
			}
		}
		ada.Query(`{ me { id } }`, nil, &me)
		var secrets []string
		for i := range 101 {
			secret, err := s.Store.SignIn(t.Context(), auth.Verified{UserID: me.Me.ID}, fmt.Sprint("browser ", i))
			if err != nil {
				t.Fatal(err)
			}
			if secrets = append(secrets, secret); i == 50 {
				if _, ok, err := s.Store.Session(t.Context(), secrets[0]); !ok || err != nil {
					t.Fatal(ok, err)
				}
				s.Fold()
			}
		}
		for i, want := range map[int]bool{0: true, 1: false, 2: true, 100: true} {
			if _, ok, err := s.Store.Session(t.Context(), secrets[i]); ok != want || err != nil {
				t.Errorf("session %d: got %t (%v), want %t", i, ok, err, want)
			}
		}
	})
}
