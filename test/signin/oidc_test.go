package signin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth/oidc/oidctest"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/test/servertest"
)

// eachWithIssuer runs a test on both engines with an OpenID Connect provider.
func eachWithIssuer(t *testing.T, test func(t *testing.T, s *servertest.Server, issuer *oidctest.Issuer)) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			issuer := oidctest.New(t)
			test(t, servertest.Start(t, engine, func(s *config.Settings) {
				s.OIDCIssuer, s.OIDCClientID, s.OIDCClientSecret = issuer.URL, issuer.ClientID, issuer.Secret
			}), issuer)
		})
	}
}

// signInElsewhere signs in through the provider, and returns the last response of the server.
func signInElsewhere(t *testing.T, b *servertest.Browser, next string) *servertest.Response {
	t.Helper()
	to := b.Get("/login/oidc?next="+url.QueryEscape(next)).Want(t, http.StatusSeeOther)
	there := b.Follow(to).Want(t, http.StatusFound)
	return b.Follow(there)
}

// TestOpenIDSignIn checks that a user of the provider is always the same user of this server. The
// preferred username is used, or a similar one if it is taken or not allowed.
func TestOpenIDSignIn(t *testing.T) {
	eachWithIssuer(t, func(t *testing.T, s *servertest.Server, issuer *oidctest.Issuer) {
		s.User("ada") // this is another user than the provider's ada
		if page := s.Browser().Get("/login"); !strings.Contains(string(page.Bytes), `href="/login/oidc?next="`) {
			t.Errorf("the page for signing in does not lead to the provider: %s", page.Bytes)
		}
		shown := func(b *servertest.Browser) string {
			_, name, _ := strings.Cut(string(b.Get("/login").Bytes), "signed in as <strong>")
			name, _, _ = strings.Cut(name, "<")
			return name
		}
		for i, person := range []struct {
			claims oidctest.Claims
			want   string
		}{
			{oidctest.Claims{"sub": "1", "preferred_username": "Ada", "given_name": "Ada", "family_name": "L.",
				"email": "ada@id.example", "email_verified": true}, "Ada-2"},
			{oidctest.Claims{"sub": "1", "preferred_username": "another user"}, "Ada-2"},
			{oidctest.Claims{"sub": "2", "preferred_username": "ada"}, "ada-3"},
			{oidctest.Claims{"sub": "3"}, "user"}, {oidctest.Claims{"sub": "4", "preferred_username": "me"}, "user-me"},
			{oidctest.Claims{"sub": "5", "preferred_username": "42"}, "user-42"},
			{oidctest.Claims{"sub": "6", "preferred_username": "<b>é&x@id.example"}, "b---x"},
			{oidctest.Claims{"sub": "7", "preferred_username": strings.Repeat("x", 300)}, strings.Repeat("x", 50)},
			{oidctest.Claims{"sub": "8", "email": "eve@id.example"}, "user-2"},
		} {
			issuer.SetUser(person.claims)
			b := s.Browser()
			r := signInElsewhere(t, b, "").Want(t, http.StatusSeeOther)
			if got := shown(b); got != person.want || r.Header.Get("Location") != s.URL+"/" {
				t.Errorf("%d: %v is called %q, want %q", i, person.claims["preferred_username"], got, person.want)
			}
		}
		token := s.Token("Ada-2", "read")
		var me struct {
			Me struct{ FirstName, LastName, Email string }
		}
		s.Client(token).Query(`{ me { firstName lastName email } }`, nil, &me)
		if me.Me.FirstName != "Ada" || me.Me.LastName != "L." || me.Me.Email != "ada@id.example" {
			t.Errorf("got %+v, want the name and the address of the ID token", me.Me)
		}

		// After the sign-in, the browser returns to the authorization request of an application.
		c := servertest.NewOAuthClient(t, s, account.NewApplication{})
		b := s.Browser()
		issuer.SetUser(oidctest.Claims{"sub": "1"})
		r := signInElsewhere(t, b, c.Question()).Want(t, 303)
		b.Follow(r).Want(t, 200)
		if code := c.Decide(b, c.Question(), "allow").Query().Get("code"); code == "" {
			t.Error("no code")
		}
	})
}

// TestOpenIDTricks checks that responses which do not belong to this browser's own sign-in, or do
// not match the request to the provider, do not sign in a user.
func TestOpenIDTricks(t *testing.T) {
	eachWithIssuer(t, func(t *testing.T, s *servertest.Server, issuer *oidctest.Issuer) {
		issuer.SetUser(oidctest.Claims{"sub": "1"})
		begin := func() (*servertest.Browser, string) {
			b := s.Browser()
			there := b.Follow(b.Get("/login/oidc")).Want(t, 302)
			return b, there.Header.Get("Location")
		}
		refused := func(name string, r *servertest.Response) {
			t.Helper()
			for _, c := range r.Cookies() {
				if strings.Contains(c.Name, "session") {
					t.Errorf("%s: got a session, want none", name)
				}
			}
			if r.StatusCode != 403 {
				t.Errorf("%s: %d, want 403", name, r.StatusCode)
			}
		}
		_, evil := begin()
		refused("another browser's response", s.Browser().Get(evil))
		b, _ := begin()
		refused("another's response in a browser that has begun", b.Get(evil))
		b, own := begin()
		refused("another state", b.Get(strings.Replace(own, "state=", "state=x", 1)))
		b, own = begin()
		refused("another code", b.Get(strings.Replace(own, "code=", "code=x", 1)))
		b, own = begin()
		refused("no code", b.Get(strings.Replace(own, "code=", "error=access_denied&x=", 1)))
		b, own = begin()
		b.Get(own).Want(t, 303)
		refused("a response twice", b.Get(own))
		for name, claims := range map[string]oidctest.Claims{
			"another nonce": {"sub": "1", "nonce": "x"}, "another audience": {"sub": "1", "aud": "x"},
			"another issuer": {"sub": "1", "iss": "https://evil.example"},
			"expired":        {"sub": "1", "exp": time.Now().Add(-time.Hour).Unix()}, "nobody": {"sub": ""},
		} {
			issuer.SetUser(claims)
			b, own := begin()
			if r := b.Get(own); r.StatusCode == 303 {
				t.Errorf("%s: got a redirect, want no sign-in", name)
			}
		}
		issuer.SetUser(oidctest.Claims{"sub": "1"})
		s.Administrator().Query(`mutation { suspendUser(input: {username: "user", reason: "Spam."}) { user { id } } }`, nil,
			new(any))
		b, own = begin()
		if r := b.Get(own).Want(t, 403); !strings.Contains(string(r.Bytes), "suspended: Spam.") {
			t.Errorf("a suspended user: got %s, want the reason", r.Bytes)
		}
	})
}

// TestBearerOfTheProvider checks that an ID token of the provider for this server is accepted as a
// bearer token, and that its first use creates the user.
func TestBearerOfTheProvider(t *testing.T) {
	eachWithIssuer(t, func(t *testing.T, s *servertest.Server, issuer *oidctest.Issuer) {
		token := issuer.Sign(oidctest.Claims{"sub": "1", "preferred_username": "ada"})
		var group sync.WaitGroup
		for range 8 { // several concurrent first uses
			group.Go(func() {
				r, _ := http.NewRequest("GET", s.URL+"/users/me", nil)
				r.Header.Set("Authorization", "Bearer "+token)
				if response, err := http.DefaultClient.Do(r); err != nil || response.StatusCode != 200 {
					t.Errorf("%v, %v", response, err)
				} else {
					_ = response.Body.Close()
				}
			})
		}
		group.Wait()
		ada, bob := s.Client(token), s.Client(issuer.Sign(oidctest.Claims{"sub": "2", "preferred_username": "bob"}))
		thing := ada.Thing("Hers")
		var me struct{ Me struct{ ID, Username string } }
		for name, c := range map[string]*servertest.Client{"ada": ada, "bob": bob} {
			c.Query(`{ me { id username } }`, nil, &me)
			if me.Me.Username != name {
				t.Errorf("got user %+v, want %s", me.Me, name)
			}
		}
		bob.Get(fmt.Sprintf("/things/%d", thing)).Want(t, 403)
		if code := ada.GraphQL(`{ moderationLog { nodes { id } } }`, nil).Code(); code != "FORBIDDEN" {
			t.Errorf("ada reads the moderation log: got %q, want FORBIDDEN", code)
		}
		var made madeToken
		ada.Query(makeToken,
			servertest.Object{"input": servertest.Object{"name": "laptop", "scopes": []string{"READ", "WRITE"}}}, &made)
		if at := made.CreateToken.Token.ExpiresAt; at == nil || time.Until(*at) > time.Hour {
			t.Errorf("a token that an ID token of one hour created: got expiry %v, want within the hour", at)
		}
		if code := ada.GraphQL(makeToken,
			servertest.Object{"input": servertest.Object{"name": "x", "scopes": []string{"READ"}, "expiresAt": time.Now().
				Add(2 * time.Hour)}}).Code(); code != "BAD_USER_INPUT" {
			t.Errorf("a token that outlives the ID token: got %q, want BAD_USER_INPUT", code)
		}
		s.Client(made.CreateToken.Secret).Get(fmt.Sprintf("/things/%d", thing)).Want(t, 200)

		for given, want := range map[string]string{token: "NOT_FOUND", token + "x": "UNAUTHENTICATED"} {
			if told := servertest.Socket(t, s.URL, given, servertest.Watching, 999); len(told) != 1 ||
				len(told[0].Errors) != 1 || told[0].Errors[0].Extensions.Code != want {
				t.Errorf("over a WebSocket: %+v, want %s", told, want)
			}
		}

		other := oidctest.New(t)
		for name, bad := range map[string]string{
			"another audience": issuer.Sign(oidctest.Claims{"sub": "1", "aud": "x"}),
			"expired":          issuer.Sign(oidctest.Claims{"sub": "1", "exp": time.Now().Add(-time.Minute).Unix()}),
			"another issuer":   issuer.Sign(oidctest.Claims{"sub": "1", "iss": "https://evil.example"}),
			"another's key":    other.Sign(oidctest.Claims{"sub": "1", "iss": issuer.URL}),
			"changed":          token[:len(token)-6] + "AAAAAA", "unsigned": "eyJhbGciOiJub25lIn0." +
				strings.Split(token, ".")[1] + ".", "nobody": issuer.Sign(oidctest.Claims{"sub": ""}), "nonsense": "ey.ey.ey",
		} {
			r := s.Client(bad).Get("/users/me")
			if r.StatusCode != 401 || r.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: got %d %s, want 401 with WWW-Authenticate", name, r.StatusCode, r.Bytes)
			}
		}
		s.Administrator().Query(`mutation { suspendUser(input: {username: "ada", reason: "Spam."}) { user { id } } }`, nil,
			new(any))
		ada.Do("POST", "/things/", servertest.Object{"name": "x", "license": "cc", "category": "Art"}).Want(t, 403)
		ada.Get("/users/me").Want(t, 200)
	})
}

// TestOpenIDProviderIsDown checks that the server works while the provider is unreachable, and
// reports that to users who need the provider.
func TestOpenIDProviderIsDown(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		s.Browser().Get("/login/oidc").Want(t, http.StatusBadGateway)
		s.User("ada").Get("/users/me").Want(t, 200)
		token := oidctest.New(t).Sign(oidctest.Claims{"sub": "1"})
		c := s.Client(token)
		for range 2 { // the second time, the server does not try to reach the provider
			servertest.WantOutage(t, c.Get("/users/me"), http.StatusServiceUnavailable, "")
			servertest.WantOutage(t, servertest.Asked(c, servertest.QueryBody("{ me { id } }")), http.StatusServiceUnavailable,
				"UNAVAILABLE")
		}
		if got := string(c.Get("/users/me").Bytes); !strings.Contains(got, "OpenID provider") ||
			strings.Contains(got, "127.0.0.1") {
			t.Errorf("the message is %s, want one that names the OpenID provider but not its address", got)
		}
		if told := servertest.Socket(t, s.URL, token, servertest.Watching, 999); len(told) != 1 || len(told[0].Errors) != 1 ||
			told[0].Errors[0].Extensions.Code != "UNAVAILABLE" {
			t.Errorf("over a WebSocket: %+v, want UNAVAILABLE", told)
		}
	}, func(s *config.Settings) { s.OIDCIssuer, s.OIDCClientID = "http://127.0.0.1:1", "meshyard" })
}

// TestOpenIDProviderHangs checks that the server starts, and that users who do not need the
// provider can sign in and call the API, while the provider does not respond, and that those who
// wait for it share one request.
func TestOpenIDProviderHangs(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}, 99), make(chan struct{})
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-release:
			http.NotFound(w, r)
		case <-r.Context().Done():
			t.Error("the server gave up before the provider responded: other users waited for that")
		}
	}))
	defer issuer.Close()
	s := servertest.Start(t, "sqlite", func(s *config.Settings) { s.OIDCIssuer, s.OIDCClientID = issuer.URL, "meshyard" })
	<-asked // the check at the start
	var waiting sync.WaitGroup
	for range 4 {
		waiting.Go(func() { s.Browser().Get("/login/oidc").Want(t, http.StatusBadGateway) })
	}
	<-asked
	ada := s.User("ada")
	s.Password("ada", servertest.Password)
	s.Browser().SignIn("ada", servertest.Password).Want(t, http.StatusSeeOther)
	ada.Get("/users/me").Want(t, http.StatusOK)
	close(release)
	waiting.Wait()
	if n := len(asked); n > 1 { // one in five seconds, even on a slow machine
		t.Errorf("four users made the server request the configuration %d times, want one", n+1)
	}
}

// TestOpenIDKeysUnavailable checks that an ID token is not rejected as invalid if the provider
// fails to publish its keys.
func TestOpenIDKeysUnavailable(t *testing.T) {
	eachWithIssuer(t, func(t *testing.T, s *servertest.Server, issuer *oidctest.Issuer) {
		issuer.LosesKeys = true
		c := s.Client(issuer.Sign(oidctest.Claims{"sub": "1"}))
		for range 2 { // the second time, the server does not request the keys
			servertest.WantOutage(t, c.Get("/users/me"), http.StatusServiceUnavailable, "")
		}
		if n := issuer.KeyRequests(); n > 2 { // one in ten seconds, even on a slow machine
			t.Errorf("the server requested the keys %d times, want one", n)
		}
	})
}

// TestForgedTokensAreBounded checks that forged ID tokens rarely make the server fetch the keys of
// the provider, and that the server verifies only a limited number of rejected tokens per network.
func TestForgedTokensAreBounded(t *testing.T) {
	eachWithIssuer(t, func(t *testing.T, s *servertest.Server, issuer *oidctest.Issuer) {
		good, forged := issuer.Sign(oidctest.Claims{"sub": "1"}), oidctest.New(t).
			Sign(oidctest.Claims{"sub": "1", "iss": issuer.URL})
		for range 3 { // valid tokens do not count
			s.Client(good).Get("/users/me").Want(t, 200)
		}
		var group sync.WaitGroup
		var refused, unverified atomic.Int64
		for range 4 {
			group.Go(func() {
				c := s.Client(forged)
				for range 30 {
					switch r := c.Get("/users/me"); r.StatusCode {
					case http.StatusUnauthorized:
						refused.Add(1)
					case http.StatusTooManyRequests:
						unverified.Add(1)
						if r.Header.Get("Retry-After") == "" {
							t.Errorf("429 without Retry-After: %s", r.Bytes)
						}
					}
				}
			})
		}
		group.Wait()
		if refused.Load() != 100 || unverified.Load() != 20 {
			t.Errorf("of 120 forged tokens %d were verified and %d not, want 100 and 20", refused.Load(), unverified.Load())
		}
		if n := issuer.KeyRequests(); n > 3 { // one in ten seconds, even on a slow machine
			t.Errorf("forged tokens made the server ask for the keys %d times, want one in ten seconds", n)
		}
		if told := servertest.Socket(t, s.URL, forged, servertest.Watching, 999); len(told) != 1 ||
			len(told[0].Errors) != 1 || told[0].Errors[0].Extensions.Code != "RATE_LIMITED" {
			t.Errorf("over a WebSocket: %+v, want RATE_LIMITED", told)
		}
		s.User("ada").Get("/users/me").Want(t, 200) // other tokens work
	})
}
