package signin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/test/servertest"
)

// listedSession is a session as the API lists it.
type listedSession struct {
	ID, UserAgent, CreatedAt, LastUsedAt, ExpiresAt string
	Browser, System                                 *string
	IsCurrent                                       bool
}

// describe returns the browsers and systems of sessions, sorted, and which one is the current one.
func describe(sessions []listedSession) string {
	var all []string
	for _, l := range sessions {
		text := "unknown"
		if l.Browser != nil && l.System != nil {
			text = *l.Browser + " on " + *l.System
		}
		if l.IsCurrent {
			text += ", current"
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// sessionCaller calls the API with the session of a browser.
type sessionCaller struct {
	t      *testing.T
	url    string
	cookie *http.Cookie
}

const (
	firefox     = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	edge        = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"
	longBrowser = 300 // bytes of the user agent of an unknown browser, which is cut after 200
)

// signIn signs a user in with a new browser.
func signIn(t *testing.T, s *servertest.Server, name, userAgent string) sessionCaller {
	t.Helper()
	b := s.Browser()
	b.UserAgent = userAgent
	b.SignIn(name, servertest.Password).Want(t, http.StatusSeeOther)
	return sessionCaller{t, s.URL, sessionOf(t, b)}
}

// ask runs an operation and returns the code of its first error, or "". data receives its data.
func (c sessionCaller) ask(document string, data any) (code string) {
	c.t.Helper()
	body, err := json.Marshal(servertest.Object{"query": document})
	if err != nil {
		c.t.Fatal(err)
	}
	_, response, _ := servertest.AskWith(c.t, "POST", c.url+"/graphql", string(body), c.cookie, "Meshyard-Session", "1",
		"Origin", c.url)
	got := struct {
		Data   any
		Errors []struct{ Extensions struct{ Code string } }
	}{Data: data}
	if err := json.Unmarshal([]byte(response), &got); err != nil {
		c.t.Fatal(err)
	}
	if len(got.Errors) > 0 {
		return got.Errors[0].Extensions.Code
	}
	return ""
}

// sessions returns the sessions of the user.
func (c sessionCaller) sessions() []listedSession {
	c.t.Helper()
	var got struct{ Sessions []listedSession }
	if code := c.ask(`{ sessions { id browser system userAgent createdAt lastUsedAt expiresAt isCurrent } }`,
		&got); code != "" {
		c.t.Fatalf("sessions: got %s, want a list", code)
	}
	return got.Sessions
}

// session returns the session of the user with a user agent.
func (c sessionCaller) session(userAgent string) listedSession {
	c.t.Helper()
	all := c.sessions()
	i := slices.IndexFunc(all, func(l listedSession) bool { return l.UserAgent == userAgent })
	if i < 0 {
		c.t.Fatalf("got sessions %+v, want one of %s", all, userAgent)
	}
	return all[i]
}

// end ends the sessions of an input of endSessions, and returns the code of the error or "".
func (c sessionCaller) end(input string) (code string) {
	c.t.Helper()
	return c.ask(`mutation { endSessions(input: `+input+`) { endedIds } }`, new(any))
}

// wantEnded checks that the session is no longer valid.
func (c sessionCaller) wantEnded(when string) {
	c.t.Helper()
	if code := c.ask(`{ me { id } }`, new(any)); code != "UNAUTHENTICATED" {
		c.t.Errorf("a session %s: got %q, want UNAUTHENTICATED", when, code)
	}
}

// TestSessions checks that users can list their sessions, and when they were last used.
func TestSessions(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.User("ada")
		bob := s.User("bob")
		s.Password("ada", servertest.Password)
		s.Password("bob", servertest.Password)
		first := signIn(t, s, "ada", firefox)
		signIn(t, s, "ada", edge)
		signIn(t, s, "ada", strings.Repeat("x", longBrowser))
		if got, want := describe(first.sessions()), "Edge on Windows; Firefox on Linux, current; unknown"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := first.session(strings.Repeat("x", 200)); got.ExpiresAt <= got.CreatedAt {
			t.Errorf("got %+v, want an expiry after the sign-in", got)
		}

		// The time of the last use is stored when activity is saved.
		s.Fold()
		if used := first.sessions()[0]; used.UserAgent != firefox || used.LastUsedAt <= used.CreatedAt {
			t.Errorf("got %+v first, want the current session, used after its sign-in", used)
		}
		if got := first.session(edge); got.LastUsedAt != got.CreatedAt {
			t.Errorf("got %+v, want no use after the sign-in", got)
		}

		bobs := signIn(t, s, "bob", firefox)
		var active struct {
			Me struct{ LastActiveAt *string }
		}
		if bobs.ask(`{ me { lastActiveAt } }`, &active); active.Me.LastActiveAt != nil {
			t.Errorf("bob was active %s, want never", *active.Me.LastActiveAt)
		}
		s.Fold()
		if bobs.ask(`{ me { lastActiveAt } }`, &active); active.Me.LastActiveAt == nil {
			t.Error("bob was never active, want the time of a request with a session")
		}
		if got := bob.GraphQL(`{ sessions { isCurrent } }`, nil); string(got.Data) != `{"sessions":[{"isCurrent":false}]}` {
			t.Errorf("with a token: got %s, want one session that is not current", got.Data)
		}
	})
}

// TestEndSessions checks that users can sign out of other browsers, one by one and all at once, and
// not of those of other users.
func TestEndSessions(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		s.User("bob")
		s.Password("ada", servertest.Password)
		s.Password("bob", servertest.Password)
		first, second, third := signIn(t, s, "ada", firefox), signIn(t, s, "ada", edge), signIn(t, s, "ada", "x")
		bobs := signIn(t, s, "bob", firefox)
		id := first.session(edge).ID

		if code := bobs.end(fmt.Sprintf(`{ids: [%q]}`, id)); code != "NOT_FOUND" {
			t.Errorf("another user's session: got %q, want NOT_FOUND", code)
		}
		if code := first.end(fmt.Sprintf(`{ids: [%q, "999999"]}`, id)); code != "NOT_FOUND" {
			t.Errorf("a session that does not exist: got %q, want NOT_FOUND", code)
		}
		if code := first.end(`{ids: [` + strings.Repeat(`"1",`, 101) + `]}`); code != "BAD_USER_INPUT" {
			t.Errorf("101 sessions: got %q, want BAD_USER_INPUT", code)
		}
		if n := len(second.sessions()); n != 3 {
			t.Fatalf("after rejected inputs: got %d sessions, want 3", n)
		}

		if code := first.end(fmt.Sprintf(`{ids: [%q]}`, id)); code != "" {
			t.Errorf("one session: got %s, want no error", code)
		}
		second.wantEnded("that was ended by its ID")
		if code := first.end(`{}`); code != "" {
			t.Errorf("all others: got %s, want no error", code)
		}
		third.wantEnded("after all others were ended")
		for _, c := range []sessionCaller{first, bobs} {
			if got, want := describe(c.sessions()), "Firefox on Linux, current"; got != want {
				t.Errorf("after all others were ended: got %s, want %s", got, want)
			}
		}

		// With a token instead of a session, endSessions ends all sessions.
		if r := ada.GraphQL(`mutation { endSessions(input: {}) { endedIds } }`, nil); r.Code() != "" {
			t.Errorf("with a token: got %+v, want no error", r.Errors)
		}
		first.wantEnded("after all were ended with a token")
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
			secret, err := s.Store.Account.SignIn(t.Context(), auth.Verified{UserID: me.Me.ID}, fmt.Sprint("browser ", i))
			if err != nil {
				t.Fatal(err)
			}
			if secrets = append(secrets, secret); i == 50 {
				if _, ok, err := s.Store.Account.Session(t.Context(), secrets[0]); !ok || err != nil {
					t.Fatal(ok, err)
				}
				s.Fold()
			}
		}
		for i, want := range map[int]bool{0: true, 1: false, 2: true, 100: true} {
			if _, ok, err := s.Store.Account.Session(t.Context(), secrets[i]); ok != want || err != nil {
				t.Errorf("session %d: got %t (%v), want %t", i, ok, err, want)
			}
		}
	})
}
