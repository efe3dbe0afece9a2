package signin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth/oidc/oidctest"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// usernameIn returns the name of the user who is signed in in a browser, or "".
func usernameIn(b *servertest.Browser) string {
	_, name, _ := strings.Cut(string(b.Get("/login").Bytes), "signed in as <strong>")
	name, _, _ = strings.Cut(name, "<")
	return name
}

// TestOpenIDUserInfo checks that the server requests UserInfo if the ID tokens of the provider
// contain only the subject.
func TestOpenIDUserInfo(t *testing.T) {
	eachWithIssuer(t, func(t *testing.T, s *servertest.Server, issuer *oidctest.Issuer) {
		issuer.SetUser(oidctest.Claims{"sub": "1"})
		issuer.SetUserInfo(oidctest.Claims{"sub": "1", "preferred_username": "ada", "name": "Ada Lovelace",
			"email": "ada@id.example", "email_verified": true})
		b := s.Browser()
		signInElsewhere(t, b, "").Want(t, http.StatusSeeOther)
		if got := usernameIn(b); got != "ada" {
			t.Errorf("the user is called %q, want ada", got)
		}
		var me struct {
			Me struct{ FirstName, LastName, Email string }
		}
		s.Client(s.Token("ada", "read")).Query(`{ me { firstName lastName email } }`, nil, &me)
		if me.Me.FirstName != "Ada" || me.Me.LastName != "Lovelace" || me.Me.Email != "ada@id.example" {
			t.Errorf("me: %+v", me.Me)
		}

		issuer.SetUser(oidctest.Claims{"sub": "3", "preferred_username": "bob", "email": "bob@id.example",
			"email_verified": true})
		issuer.SetUserInfo(oidctest.Claims{"sub": "3", "name": "Bob Builder"})
		signInElsewhere(t, s.Browser(), "").Want(t, http.StatusSeeOther)
		s.Client(s.Token("bob", "read")).Query(`{ me { firstName lastName email } }`, nil, &me)
		if me.Me.FirstName != "Bob" || me.Me.LastName != "Builder" {
			t.Errorf("only the name is missing in the ID token: got %+v, want Bob Builder of UserInfo", me.Me)
		}

		issuer.SetUser(oidctest.Claims{"sub": "1"})
		issuer.SetUserInfo(oidctest.Claims{"sub": "2", "preferred_username": "eve"})
		b = s.Browser()
		if signInElsewhere(t, b, "").Want(t, http.StatusForbidden); usernameIn(b) != "" {
			t.Error("UserInfo about another subject signs in")
		}
		issuer.SetUserInfo(oidctest.Claims{})
		b = s.Browser()
		if signInElsewhere(t, b, "").Want(t, http.StatusBadGateway); usernameIn(b) != "" {
			t.Error("a failure of UserInfo signs in")
		}
	})
}

// TestOpenIDRules checks the operator's rules: which claims are used, which users of the provider
// are admitted, and which claim assigns roles.
func TestOpenIDRules(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			issuer := oidctest.New(t)
			s := servertest.Start(t, engine, func(s *config.Settings) {
				s.OIDCIssuer, s.OIDCClientID, s.OIDCClientSecret = issuer.URL, issuer.ClientID, issuer.Secret
				s.OIDCUsernameClaim, s.OIDCNameClaim = "ldap.uid", "display"
				s.OIDCAllowedDomains, s.OIDCAllowedGroups = []string{"id.example"}, []string{"makers"}
				s.OIDCRoleClaim, s.OIDCAdministrators, s.OIDCModerators = "roles", []string{"root"}, []string{"mod"}
			})
			ada := oidctest.Claims{
				"sub": "1", "ldap": servertest.Object{"uid": "ada"}, "display": "Ada L.", "email": "ada@id.example",
				"email_verified": true, "groups": []string{"makers"},
			}
			with := func(claim string, value any) oidctest.Claims {
				changed := oidctest.Claims{claim: value}
				for k, v := range ada {
					if k != claim {
						changed[k] = v
					}
				}
				return changed
			}
			admin := s.Administrator()
			signsIn := func(c oidctest.Claims) *servertest.Response {
				t.Helper()
				issuer.SetUser(c)
				return signInElsewhere(t, s.Browser(), "")
			}
			for name, c := range map[string]oidctest.Claims{
				"another domain": with("email", "ada@evil.example"), "not verified": with("email_verified", false),
				"another group": with("groups", []string{"users"}), "no group": with("groups", nil),
			} {
				if r := signsIn(c).Want(t, http.StatusForbidden); !strings.Contains(string(r.Bytes), "may not use this server") ||
					len(r.Cookies()) > 1 {
					t.Errorf("%s: %s", name, r.Bytes)
				}
				s.Client(issuer.Sign(c)).Get("/users/me").Want(t, http.StatusForbidden)
			}
			admin.Get("/users/ada").Want(t, http.StatusNotFound)

			var me struct {
				Me struct {
					Username, FirstName, LastName, Role string
				}
			}
			role := func(want string) {
				t.Helper()
				s.Client(s.Token("ada", "read")).Query(`{ me { username firstName lastName role } }`, nil, &me)
				if me.Me.Role != want {
					t.Errorf("the role is %s, want %s", me.Me.Role, want)
				}
			}
			signsIn(with("roles", []string{"mod"})).Want(t, http.StatusSeeOther)
			role("MODERATOR")
			if me.Me.Username != "ada" || me.Me.FirstName != "Ada" || me.Me.LastName != "L." {
				t.Errorf("me: %+v", me.Me)
			}
			former := s.Client(s.Token("ada", "read", "admin"))
			former.Query(`{ moderationLog { nodes { id } } }`, nil, new(any))
			signsIn(with("roles", []string{"root"})).Want(t, http.StatusSeeOther)
			role("ADMINISTRATOR")
			s.Client(issuer.Sign(ada)).Get("/users/me").Want(t, http.StatusOK)
			role("ADMINISTRATOR") // an ID token that is used as a bearer token does not assign roles
			signsIn(ada).Want(t, http.StatusSeeOther)
			role("MEMBER")
			if code := former.GraphQL(`{ moderationLog { nodes { id } } }`, nil).Code(); code != "FORBIDDEN" {
				t.Errorf("a former administrator reads the moderation log: %q", code)
			}

			var log struct {
				ModerationLog struct {
					Nodes []struct {
						Action, Role string
						Actor        struct{ Username string }
					}
				}
			}
			admin.Query(`{ moderationLog { nodes { action role actor { username } } } }`, nil, &log)
			var roles []string
			for _, e := range log.ModerationLog.Nodes {
				if e.Action == "SET_USER_ROLE" && e.Actor.Username == "ada" {
					roles = append(roles, e.Role)
				}
			}
			if got := strings.Join(roles, " "); got != "MEMBER ADMINISTRATOR MODERATOR" {
				t.Errorf("the log has the roles %q", got)
			}
		})
	}
}
