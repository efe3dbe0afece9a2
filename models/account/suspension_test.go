package account_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
)

// credentials are what ada holds before she is suspended.
type credentials struct {
	application     *oauth.Application
	code, verifier  string // of an authorization that is not redeemed
	refresh         string
	reset           string // the secret of a password reset link
	session         string
	invitation      string // the secret of the link of an invitation that ada created
	token           string
	caller          auth.Caller // of token
	passwordOfAdmin auth.Verified
}

const (
	credentialRedirect = "https://app.example/"
	credentialPassword = "the password of ada"
)

func (c *credentials) grant(user int64) oauth.Grant {
	challenge := sha256.Sum256([]byte(c.verifier))
	return oauth.Grant{
		Application: c.application, UserID: user, Redirect: credentialRedirect, Scopes: auth.Scopes{auth.Read},
		Challenge: base64.RawURLEncoding.EncodeToString(challenge[:]),
	}
}

// newCredentials creates one of each credential for ada, and another administrator.
func newCredentials(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) *credentials {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cataloguetest.NewUser(t, s, "root")
	for _, name := range []string{"root", "ada"} {
		_, err := s.Account.Admin().SetUserRole(ctx, name, auth.Administrator)
		must(err)
	}
	must(s.Account.Admin().SetPassword(ctx, "ada", credentialPassword))
	_, registered, err := s.Account.Admin().
		RegisterApplication(ctx, account.NewApplication{Name: "App", RedirectURIs: []string{credentialRedirect},
			IsPublic: true})
	must(err)
	c := &credentials{application: registered.OAuth(), verifier: strings.Repeat("v", 43)}
	c.code, err = s.Account.Authorize(ctx, c.grant(ada.UserID))
	must(err)
	c.refresh = account.NewRefreshToken(t, s.Account, ada, registered).Refresh
	c.reset, err = account.InsertLink(ctx, s.DB.Write, &account.AccountLink{Purpose: models.ResetLink, UserID: ada.UserID,
		ExpiresAt: models.Now().Add(account.Lifetime(models.ResetLink))})
	must(err)
	c.passwordOfAdmin, err = s.Account.CheckPassword(ctx, "ada", credentialPassword)
	must(err)
	c.session, err = s.Account.SignIn(ctx, c.passwordOfAdmin, "")
	must(err)
	c.token, err = s.Account.Admin().CreateToken(ctx, "ada", "own", auth.Scopes{auth.Read, auth.Write, auth.Admin}, 0)
	must(err)
	c.caller, err = s.Account.Authenticate(ctx, c.token)
	must(err)
	c.invitation, _, err = s.Account.CreateInvitation(ctx, c.caller, account.NewInvitation{})
	must(err)
	return c
}

// issuing lists everything that issues or renews a credential, with the code of its error for a
// user who is suspended.
func issuing(s *catalogue.Catalogue, c *credentials) map[string]struct {
	act  func(ctx context.Context) error
	want models.Code
} {
	type entry = struct {
		act  func(ctx context.Context) error
		want models.Code
	}
	return map[string]entry{
		"create a token": {func(ctx context.Context) error {
			_, _, err := s.Account.CreateToken(ctx, c.caller, account.NewToken{Name: "another", Scopes: []auth.Scope{auth.Read}})
			return err
		}, models.Forbidden},
		"create a token on the command line": {func(ctx context.Context) error {
			_, err := s.Account.Admin().CreateToken(ctx, "ada", "", auth.Scopes{auth.Read}, 0)
			return err
		}, models.Forbidden},
		"authorize": {func(ctx context.Context) error {
			_, err := s.Account.Authorize(ctx, c.grant(c.caller.UserID))
			return err
		}, models.Forbidden},
		"authorize implicitly": {func(ctx context.Context) error {
			_, err := s.Account.AuthorizeImplicitly(ctx, c.grant(c.caller.UserID))
			return err
		}, models.Forbidden},
		"redeem a code": {func(ctx context.Context) error {
			_, err := s.Account.Redeem(ctx, c.application, c.code, credentialRedirect, c.verifier)
			return err
		}, models.BadInput},
		"refresh": {func(ctx context.Context) error {
			_, err := s.Account.Refresh(ctx, c.application, c.refresh)
			return err
		}, models.BadInput},
		"sign in": {func(ctx context.Context) error {
			_, err := s.Account.SignIn(ctx, c.passwordOfAdmin, "")
			return err
		}, models.Forbidden},
		"reset the password": {func(ctx context.Context) error {
			_, err := s.Account.ResetPassword(ctx, c.reset, "another password")
			return err
		}, models.Forbidden},
		"change the password": {func(ctx context.Context) error {
			return s.Account.ChangePassword(ctx, c.caller, credentialPassword, "another password")
		}, models.Forbidden},
		"invite": {func(ctx context.Context) error {
			_, _, err := s.Account.CreateInvitation(ctx, c.caller, account.NewInvitation{})
			return err
		}, models.Forbidden},
		"use an invitation of the user": {func(ctx context.Context) error {
			_, err := s.Account.Register(ctx, account.Registration{Secret: c.invitation, Username: "eve",
				Password: "the password of eve"})
			return err
		}, models.NotFound},
	}
}

// TestSuspensionBesideNewCredential checks that everything that issues a credential fails if the
// user is suspended at the same time, and issues none. The suspension here ends no credential, so
// that each function must check the user itself.
func TestSuspensionBesideNewCredential(t *testing.T) {
	for name := range issuing(nil, nil) {
		t.Run(name, func(t *testing.T) {
			cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
				c := newCredentials(t, s, ada)
				before := c.count(t, s)
				issue := issuing(s, c)[name]
				err := cataloguetest.Beside(t, s, func(ctx context.Context, tx bun.Tx) error {
					if _, err := s.LockAccount(ctx, tx, ada.UserID); err != nil {
						return err
					}
					_, err := tx.NewRaw("UPDATE users SET suspended_at = ?, suspension_reason = 'spam' WHERE id = ?", models.Now(),
						ada.UserID).Exec(ctx)
					return err
				}, func() error { return issue.act(t.Context()) })
				if models.CodeOf(err) != issue.want {
					t.Errorf("got %v, want %s", err, issue.want)
				}
				if after := c.count(t, s); after != before {
					t.Errorf("there are %+v, want %+v as before", after, before)
				}
			})
		})
	}
}

// validOnes are the numbers of stored credentials of all users.
type validOnes struct{ Tokens, Sessions, Grants, Refresh, Links, Users int }

// count returns how many credentials are valid.
func (c *credentials) count(t *testing.T, s *catalogue.Catalogue) (n validOnes) {
	t.Helper()
	for query, into := range map[string]*int{
		"SELECT count(*) FROM tokens WHERE revoked_at IS NULL":      &n.Tokens,
		"SELECT count(*) FROM sessions":                             &n.Sessions,
		"SELECT count(*) FROM grants WHERE token_id IS NULL":        &n.Grants,
		"SELECT count(*) FROM refresh_tokens WHERE used_at IS NULL": &n.Refresh,
		"SELECT count(*) FROM account_links":                        &n.Links,
		"SELECT count(*) FROM users":                                &n.Users,
	} {
		if err := s.DB.Read.NewRaw(query).Scan(t.Context(), into); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// TestSuspensionEndsCredentials checks that no credential from before a suspension works after its
// end, except the access tokens that a suspension by a moderator leaves for reading.
func TestSuspensionEndsCredentials(t *testing.T) {
	for name, test := range map[string]struct {
		suspend func(ctx context.Context, s *catalogue.Catalogue, by auth.Caller) error
		revokes bool
	}{
		"by a moderator": {func(ctx context.Context, s *catalogue.Catalogue, by auth.Caller) error {
			_, err := s.Moderation.SuspendUser(ctx, by, "ada", "spam")
			return err
		}, false},
		"by an administrator": {func(ctx context.Context, s *catalogue.Catalogue, by auth.Caller) error {
			_, err := s.Account.SuspendAndRevokeTokens(ctx, by, "ada", "spam")
			return err
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
				ctx := t.Context()
				c := newCredentials(t, s, ada)
				root, err := s.Admin().User(ctx, "root")
				if err != nil {
					t.Fatal(err)
				}
				by := auth.Caller{UserID: root.ID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}}
				if err := test.suspend(ctx, s, by); err != nil {
					t.Fatal(err)
				}
				n := c.count(t, s)
				want := validOnes{Links: 1, Users: n.Users} // of the invitation
				if !test.revokes {
					want.Tokens = 2
				}
				if n != want {
					t.Errorf("after the suspension there are %+v, want %+v", n, want)
				}
				if _, err := s.Account.Admin().UnsuspendUser(ctx, "ada"); err != nil {
					t.Fatal(err)
				}
				for _, act := range []string{"redeem a code", "refresh"} {
					if err := issuing(s, c)[act].act(ctx); models.CodeOf(err) != models.BadInput {
						t.Errorf("%s after the suspension: got %v, want %s", act, err, models.BadInput)
					}
				}
				if _, err := s.Account.ResetPassword(ctx, c.reset, "another password"); models.CodeOf(err) != models.NotFound {
					t.Errorf("the reset link after the suspension: got %v, want %s", err, models.NotFound)
				}
				if _, ok, err := s.Account.Session(ctx, c.session); ok || err != nil {
					t.Errorf("the session after the suspension is valid: %t, %v", ok, err)
				}
				create := issuing(s, c)["create a token"].act(ctx)
				if want := map[bool]bool{true: models.CodeOf(create) == models.Unauthenticated,
					false: create == nil}; !want[test.revokes] {
					t.Errorf("a token by the token from before: got %v", create)
				}
				if err := issuing(s, c)["use an invitation of the user"].act(ctx); err != nil {
					t.Errorf("the invitation after the suspension: %v", err)
				}
			})
		})
	}
}

// TestSuspensionOnOtherNodes checks that a node that has just authenticated a token notices at the
// next request that another node has suspended its user, revoked it, or changed the role.
func TestSuspensionOnOtherNodes(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		other := catalogue.New(s.DB, s.Bucket, catalogue.Options{Options: s.Options}, s.Enqueue)
		c := newCredentials(t, s, ada)
		bearer := func(context.Context, string) (auth.Identity, error) {
			return auth.Identity{Issuer: "https://issuer.example", Subject: "ada", Username: "grace"}, nil
		}
		see := func() (auth.Caller, auth.Caller, error) {
			caller, err := other.Account.Authenticate(ctx, c.token)
			if err != nil {
				return caller, caller, err
			}
			by, err := other.Account.AuthenticateBearer(ctx, "token", bearer)
			return caller, by, err
		}
		if a, b, err := see(); err != nil || a.Suspended != "" || a.Role != auth.Administrator || b.Suspended != "" {
			t.Fatalf("at first: %+v, %+v, %v", a, b, err)
		}
		for _, name := range []string{"ada", "grace"} {
			if _, err := s.Account.Admin().SetUserRole(ctx, name, auth.Moderator); err != nil {
				t.Fatal(err)
			}
		}
		if a, b, err := see(); err != nil || a.Role != auth.Moderator || b.Role != auth.Moderator {
			t.Errorf("after the change of the role: %+v, %+v, %v", a, b, err)
		}
		root, err := s.Admin().User(ctx, "root")
		if err != nil {
			t.Fatal(err)
		}
		by := auth.Caller{UserID: root.ID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}}
		for _, name := range []string{"ada", "grace"} {
			if _, err := s.Moderation.SuspendUser(ctx, by, name, "spam"); err != nil {
				t.Fatal(err)
			}
		}
		if a, b, err := see(); err != nil || a.Suspended != "spam" || b.Suspended != "spam" {
			t.Errorf("after the suspension: %+v, %+v, %v", a, b, err)
		}
		if _, err := s.Account.SuspendAndRevokeTokens(ctx, by, "ada", "spam"); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Account.Authenticate(ctx, c.token); models.CodeOf(err) != models.Unauthenticated {
			t.Errorf("after the revocation: got %v, want %s", err, models.Unauthenticated)
		}
		if err := s.Account.Admin().DeleteUser(ctx, "grace"); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Account.AuthenticateBearer(ctx, "token", bearer); models.CodeOf(err) != models.Unauthenticated {
			t.Errorf("after the deletion: got %v, want %s", err, models.Unauthenticated)
		}
	})
}
