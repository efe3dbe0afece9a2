package signin_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth/oidc/oidctest"
	"github.com/meshyard/meshyard/test/servertest"
)

const tokenPage = "/login/tokens"

var (
	shownSecret = regexp.MustCompile(`id="secret" value="(meshyard_\w+)"`)
	shownToken  = regexp.MustCompile(`name="id" value="(\d+)"`)
)

// tokenForm returns the fields of the form that creates tokens, as the page shows it, with the
// given name and scopes.
func tokenForm(t *testing.T, b *servertest.Browser, name string, scopes ...string) url.Values {
	t.Helper()
	form := b.Get(tokenPage).Want(t, http.StatusOK).Fields()
	form.Set("name", name)
	form.Set("days", "30")
	form["scope"] = scopes
	return form
}

// makeOnPage creates a token on the token page and returns it.
func makeOnPage(t *testing.T, b *servertest.Browser, name string, scopes ...string) string {
	t.Helper()
	page := b.Post(tokenPage, tokenForm(t, b, name, scopes...)).Want(t, http.StatusOK)
	found := shownSecret.FindSubmatch(page.Bytes)
	if found == nil {
		t.Fatalf("the page shows no new token: %s", page.Bytes)
	}
	return string(found[1])
}

// TestTokenPage checks that a user can create a token in a browser, use it, see it in the list, and
// revoke it.
func TestTokenPage(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.User("ada")
		s.Password("ada", servertest.Password)
		b := s.Browser()
		first := b.Get(tokenPage).Want(t, http.StatusSeeOther)
		if to := first.Header.Get("Location"); to != s.URL+"/login?next=%2Flogin%2Ftokens" {
			t.Fatalf("without a session the page leads to %q", to)
		}
		form := b.Follow(first).Fields()
		form.Set("username", "ada")
		form.Set("password", servertest.Password)
		if to := b.Post("/login", form).Want(t, http.StatusSeeOther).Header.Get("Location"); to != s.URL+tokenPage {
			t.Errorf("after the sign-in the browser goes to %q", to)
		}
		if page := b.Get("/login"); !strings.Contains(string(page.Bytes), `href="/login/tokens"`) {
			t.Error("the page after the sign-in does not link to the tokens")
		}

		secret := makeOnPage(t, b, "my <slicer>", "read")
		c := s.Client(secret)
		c.Get("/users/me").Want(t, http.StatusOK)
		c.Do("POST", "/things/", servertest.Object{"name": "x", "license": "cc", "category": "Art"}).
			Want(t, http.StatusForbidden)
		page := b.Get(tokenPage)
		for _, want := range []string{"my &lt;slicer&gt;", "expires 20"} {
			if !strings.Contains(string(page.Bytes), want) {
				t.Errorf("the page lacks %q: %s", want, page.Bytes)
			}
		}
		if strings.Contains(string(page.Bytes), secret) {
			t.Error("the token is shown twice")
		}
		if policy := page.Header.Get("Content-Security-Policy"); strings.Contains(policy, "script-src") ||
			!strings.Contains(policy, "default-src 'none'") || strings.Contains(string(page.Bytes), "<script") ||
			page.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("headers %v", page.Header)
		}

		// The page also lists tokens that were created by other means. Revoke only the new one.
		ids := shownToken.FindAllSubmatch(page.Bytes, -1)
		revoke := page.Fields()
		revoke.Set("id", string(ids[0][1])) // newest first
		b.Post(tokenPage+"/revoke", revoke).Want(t, http.StatusSeeOther)
		c.Get("/users/me").Want(t, http.StatusUnauthorized)
		if left := shownToken.FindAllSubmatch(b.Get(tokenPage).Bytes, -1); len(left) != len(ids)-1 {
			t.Errorf("%d tokens are left of %d", len(left), len(ids))
		}

		b.Post("/logout", nil).Want(t, http.StatusSeeOther)
		b.Get(tokenPage).Want(t, http.StatusSeeOther)
		b.Post(tokenPage, revoke).Want(t, http.StatusSeeOther)
	})
}

// TestTokenPageTricks checks that only the forms of the page itself create or revoke tokens, and
// that users cannot access the tokens of other users.
func TestTokenPageTricks(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.User("ada")
		s.Password("ada", servertest.Password)
		eve := s.User("eve")
		s.Password("eve", servertest.Password)
		b, evil := s.Browser(), s.Browser()
		b.SignIn("ada", servertest.Password).Want(t, http.StatusSeeOther)
		evil.SignIn("eve", servertest.Password).Want(t, http.StatusSeeOther)
		before := len(shownToken.FindAll(b.Get(tokenPage).Bytes, -1))

		good := tokenForm(t, b, "x", "read")
		refused := func(name string, r *servertest.Response, status int) {
			t.Helper()
			if r.StatusCode != status || shownSecret.Match(r.Bytes) {
				t.Errorf("%s: got %d, want %d: %s", name, r.StatusCode, status, r.Bytes)
			}
		}
		changed := func(field string, values ...string) url.Values {
			form := url.Values{}
			maps.Copy(form, good)
			form[field] = values
			return form
		}
		for _, site := range []string{"cross-site", "same-site"} {
			refused("a form of another site", b.PostFrom(site, tokenPage, good), 403)
			refused("a form of another site", b.PostFrom(site, tokenPage+"/revoke", good), 403)
		}
		refused("no signature", b.Post(tokenPage, changed("token")), 403)
		refused("another session's signature",
			b.Post(tokenPage, changed("token", tokenForm(t, evil, "x", "read").Get("token"))), 403)
		refused("a scope that the user has not", b.Post(tokenPage, changed("scope", "read", "admin")), 403)
		refused("an unknown scope", b.Post(tokenPage, changed("scope", "all")), 403)
		refused("no scope", b.Post(tokenPage, changed("scope")), 400)
		refused("no name", b.Post(tokenPage, changed("name", " ")), 400)
		refused("a long name", b.Post(tokenPage, changed("name", strings.Repeat("x", 300))), 400)
		refused("no lifetime", b.Post(tokenPage, changed("days")), 400)
		refused("a negative lifetime", b.Post(tokenPage, changed("days", "-1")), 400)
		if n := len(shownToken.FindAll(b.Get(tokenPage).Bytes, -1)); n != before {
			t.Errorf("%d tokens were made", n-before)
		}

		own := shownToken.FindSubmatch(b.Get(tokenPage).Bytes)[1]
		theft := evil.Get(tokenPage).Fields()
		theft.Set("id", string(own))
		refused("another user's token", evil.Post(tokenPage+"/revoke", theft), 404)
		theft.Set("id", "x")
		refused("no id", evil.Post(tokenPage+"/revoke", theft), 404)
		if strings.Contains(string(evil.Get(tokenPage).Bytes), `name="id" value="`+string(own)+`"`) {
			t.Error("eve sees ada's token")
		}

		if strings.Contains(string(b.Get(tokenPage).Bytes), `value="admin"`) {
			t.Error("a member is offered the scope admin")
		}
		admin := s.Administrator()
		var me struct{ Me struct{ Username string } }
		admin.Query(`{ me { username } }`, nil, &me)
		s.Password(me.Me.Username, servertest.Password)
		moderator := s.Browser()
		moderator.SignIn(me.Me.Username, servertest.Password).Want(t, http.StatusSeeOther)
		s.Client(makeOnPage(t, moderator, "staff", "read", "admin")).Query(`{ moderationLog { nodes { id } } }`, nil,
			new(any))

		eve.Get("/users/me").Want(t, http.StatusOK)
		admin.Query(`mutation { suspendUser(input: {username: "eve", reason: "Spam."}) { user { id } } }`, nil, new(any))
		evil.Get(tokenPage).Want(t, http.StatusSeeOther)
		evil.Post(tokenPage, theft).Want(t, http.StatusSeeOther)
	})
}

// TestTokenPageAfterOpenID checks that users who sign in through the OpenID provider can create
// tokens too.
func TestTokenPageAfterOpenID(t *testing.T) {
	eachWithIssuer(t, func(t *testing.T, s *servertest.Server, issuer *oidctest.Issuer) {
		issuer.SetUser(oidctest.Claims{"sub": "1", "preferred_username": "ada"})
		b := s.Browser()
		if to := signInElsewhere(t, b, tokenPage).Want(t, http.StatusSeeOther).Header.Get("Location"); to != s.URL+tokenPage {
			t.Errorf("after the sign-in the browser goes to %q", to)
		}
		var me struct{ Me struct{ Username string } }
		s.Client(makeOnPage(t, b, "laptop", "read", "write")).Query(`{ me { username } }`, nil, &me)
		if me.Me.Username != "ada" {
			t.Errorf("the token is of %q", me.Me.Username)
		}
	})
}
