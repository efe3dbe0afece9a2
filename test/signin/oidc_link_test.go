package signin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth/oidc/oidctest"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestOpenIDLink checks that a person who has an account already links it to the provider with its
// password, that nobody links it without the password, and that they can create another one.
func TestOpenIDLink(t *testing.T) {
	eachWithIssuer(t, func(t *testing.T, s *servertest.Server, issuer *oidctest.Issuer) {
		ada := s.User("ada")
		s.Password("ada", servertest.Password)
		thing := ada.Thing("Hers")
		ada.Query(`mutation { updateProfile(input: {email: "Ada@id.example"}) { user { id } } }`, nil, new(any))
		s.User("grace")
		s.Password("grace", servertest.Password)
		const link = "/login/oidc/link"
		begin := func(claims oidctest.Claims) *servertest.Browser {
			t.Helper()
			issuer.SetUser(claims)
			b := s.Browser()
			if r := signInElsewhere(t, b, "/settings").Want(t, http.StatusSeeOther); r.Header.Get("Location") != s.URL+link ||
				usernameIn(b) != "" {
				t.Fatalf("got a redirect to %s, want to %s and no session", r.Header.Get("Location"), link)
			}
			return b
		}

		s.Browser().Get(link).Want(t, http.StatusForbidden)
		hers := oidctest.Claims{"sub": "1", "preferred_username": "lovelace", "email": "ada@id.example",
			"email_verified": true}
		b := begin(hers)
		if page := b.Get(link).Want(t, http.StatusOK); !strings.Contains(string(page.Bytes), "<strong>ada</strong>") {
			t.Errorf("the page does not name the account: %s", page.Bytes)
		}
		b.Post(link, url.Values{"password": {"not " + servertest.Password}}).Want(t, http.StatusForbidden)
		if usernameIn(b) != "" {
			t.Error("a wrong password signs in")
		}
		if r := s.Client(issuer.Sign(hers)).Get("/users/me").Want(t, http.StatusForbidden); !strings.Contains(string(r.Bytes),
			"the account ada") {
			t.Errorf("a program: got %s, want the name of the account", r.Bytes)
		}
		if r := b.Post(link, url.Values{"password": {servertest.Password}}).
			Want(t, http.StatusSeeOther); r.Header.Get("Location") != s.URL+"/settings" || usernameIn(b) != "ada" {
			t.Errorf("got %q and a redirect to %s, want ada and /settings", usernameIn(b), r.Header.Get("Location"))
		}
		b = s.Browser()
		if signInElsewhere(t, b, "").Want(t, http.StatusSeeOther); usernameIn(b) != "ada" {
			t.Errorf("the next sign-in is by %q, want ada", usernameIn(b))
		}
		s.Client(issuer.Sign(hers)).Get("/users/me").Want(t, http.StatusOK)
		var thingOf struct {
			Me struct{ Things struct{ TotalCount int } }
		}
		s.Client(issuer.Sign(hers)).Query(`{ me { things { totalCount } } }`, nil, &thingOf)
		if thing == 0 || thingOf.Me.Things.TotalCount != 1 {
			t.Errorf("got %+v, want the thing of the account", thingOf)
		}

		b = begin(oidctest.Claims{"sub": "2", "preferred_username": "Grace"})
		b.Post(link, url.Values{"choice": {"new"}}).Want(t, http.StatusSeeOther)
		if usernameIn(b) != "Grace-2" {
			t.Errorf("another account is called %q, want Grace-2", usernameIn(b))
		}

		for name, claims := range map[string]oidctest.Claims{
			"the address is not verified": {"sub": "3", "preferred_username": "eve", "email": "ada@id.example"},
			"nothing is equal": {"sub": "4", "preferred_username": "heidi", "email": "heidi@id.example",
				"email_verified": true},
		} {
			issuer.SetUser(claims)
			b := s.Browser()
			if signInElsewhere(t, b, "").Want(t, http.StatusSeeOther); usernameIn(b) != claims["preferred_username"] {
				t.Errorf("%s: signed in as %q, want a new account", name, usernameIn(b))
			}
		}
	})
}
