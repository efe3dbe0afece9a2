package models

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
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
func newCredentials(t *testing.T, s *Store, ada auth.Caller) *credentials {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	newUser(t, s, "root")
	for _, name := range []string{"root", "ada"} {
		_, err := s.Admin().SetUserRole(ctx, name, auth.Administrator)
		must(err)
	}
	must(s.Admin().SetPassword(ctx, "ada", credentialPassword))
	_, registered, err := s.Admin().RegisterApplication(ctx, NewApplication{Name: "App", RedirectURIs: []string{credentialRedirect}, IsPublic: true})
	must(err)
	c := &credentials{application: registered.oauth(), verifier: strings.Repeat("v", 43)}
	c.code, err = s.Authorize(ctx, c.grant(ada.UserID))
	must(err)
	c.refresh = newRefreshToken(t, s, ada, registered).Refresh
	c.reset, err = insertLink(ctx, s.DB.Write, &accountLink{Purpose: ResetLink, UserID: ada.UserID, ExpiresAt: Now().Add(ResetLink.lifetime())})
	must(err)
	c.passwordOfAdmin, err = s.CheckPassword(ctx, "ada", credentialPassword)
	must(err)
	c.session, err = s.SignIn(ctx, c.passwordOfAdmin, "")
	must(err)
	c.token, err = s.Admin().CreateToken(ctx, "ada", "own", auth.Scopes{auth.Read, auth.Write, auth.Admin}, 0)
	must(err)
	c.caller, err = s.Authenticate(ctx, c.token)
	must(err)
	c.invitation, _, err = s.CreateInvitation(ctx, c.caller, NewInvitation{})
	must(err)
	return c
}

// issuing lists everything that issues or renews a credential, with the code of its error for a
// user who is suspended.
func issuing(s *Store, c *credentials) map[string]struct {
	act  func(ctx context.Context) error
	want Code
} {
	type entry = struct {
		act  func(ctx context.Context) error
		want Code
	}
	return map[string]entry{
		"create a token": {func(ctx context.Context) error {
			_, _, err := s.CreateToken(ctx, c.caller, NewToken{Name: "another", Scopes: []auth.Scope{auth.Read}})
			return err
		}, Forbidden},
		"create a token on the command line": {func(ctx context.Context) error {
			_, err := s.Admin().CreateToken(ctx, "ada", "", auth.Scopes{auth.Read}, 0)
			return err
		}, Forbidden},
		"authorize": {func(ctx context.Context) error {
			_, err := s.Authorize(ctx, c.grant(c.caller.UserID))
			return err
		}, Forbidden},
		"authorize implicitly": {func(ctx context.Context) error {
			_, err := s.AuthorizeImplicitly(ctx, c.grant(c.caller.UserID))
			return err
		}, Forbidden},
		"redeem a code": {func(ctx context.Context) error {
			_, err := s.Redeem(ctx, c.application, c.code, credentialRedirect, c.verifier)
			return err
		}, BadInput},
		"refresh": {func(ctx context.Context) error {
			_, err := s.Refresh(ctx, c.application, c.refresh)
			return err
		}, BadInput},
		"sign in": {func(ctx context.Context) error {
			_, err := s.SignIn(ctx, c.passwordOfAdmin, "")
			return err
		}, Forbidden},
		"reset the password": {func(ctx context.Context) error {
			_, err := s.ResetPassword(ctx, c.reset, "another password")
			return err
		}, Forbidden},
		"change the password": {func(ctx context.Context) error {
			return s.ChangePassword(ctx, c.caller, credentialPassword, "another password")
		}, Forbidden},
		"invite": {func(ctx context.Context) error {
			_, _, err := s.CreateInvitation(ctx, c.caller, NewInvitation{})
			return err
		}, Forbidden},
		"use an invitation of the user": {func(ctx context.Context) error {
			_, err := s.Register(ctx, Registration{Secret: c.invitation, Username: "eve", Password: "the password of eve"})
			return err
		}, NotFound},
	}
}

// TestSuspensionBesideNewCredential checks that everything that issues a credential fails if the
// user is suspended at the same time, and issues none. The suspension here ends no credential, so
// that each function must check the user itself.
func TestSuspensionBesideNewCredential(t *testing.T) {
	for name := range issuing(nil, nil) {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
				c := newCredentials(t, s, ada)
				before := c.count(t, s)
				issue := issuing(s, c)[name]
				err := beside(t, s, func(ctx context.Context, tx bun.Tx) error {
					if _, err := s.LockAccount(ctx, tx, ada.UserID); err != nil {
						return err
					}
					_, err := tx.NewRaw("UPDATE users SET suspended_at = ?, suspension_reason = 'spam' WHERE id = ?", Now(), ada.UserID).Exec(ctx)
					return err
				}, func() error { return issue.act(t.Context()) })
				if CodeOf(err) != issue.want {
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
func (c *credentials) count(t *testing.T, s *Store) (n validOnes) {
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
		suspend func(ctx context.Context, s *Store, by auth.Caller) error
		revokes bool
	}{
		"by a moderator": {func(ctx context.Context, s *Store, by auth.Caller) error {
			_, err := s.SuspendUser(ctx, by, "ada", "spam")
			return err
		}, false},
		"by an administrator": {func(ctx context.Context, s *Store, by auth.Caller) error {
			_, err := s.SuspendAndRevokeTokens(ctx, by, "ada", "spam")
			return err
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
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
				if _, err := s.Admin().UnsuspendUser(ctx, "ada"); err != nil {
					t.Fatal(err)
				}
				for _, act := range []string{"redeem a code", "refresh"} {
					if err := issuing(s, c)[act].act(ctx); CodeOf(err) != BadInput {
						t.Errorf("%s after the suspension: got %v, want %s", act, err, BadInput)
					}
				}
				if _, err := s.ResetPassword(ctx, c.reset, "another password"); CodeOf(err) != NotFound {
					t.Errorf("the reset link after the suspension: got %v, want %s", err, NotFound)
				}
				if _, ok, err := s.Session(ctx, c.session); ok || err != nil {
					t.Errorf("the session after the suspension is valid: %t, %v", ok, err)
				}
				create := issuing(s, c)["create a token"].act(ctx)
				if want := map[bool]bool{true: CodeOf(create) == Unauthenticated, false: create == nil}; !want[test.revokes] {
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
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		other := NewStore(s.DB, s.Bucket, s.options, s.Enqueue)
		c := newCredentials(t, s, ada)
		bearer := func(context.Context, string) (auth.Identity, error) {
			return auth.Identity{Issuer: "https://issuer.example", Subject: "ada", Username: "grace"}, nil
		}
		see := func() (auth.Caller, auth.Caller, error) {
			caller, err := other.Authenticate(ctx, c.token)
			if err != nil {
				return caller, caller, err
			}
			by, err := other.AuthenticateBearer(ctx, "token", bearer)
			return caller, by, err
		}
		if a, b, err := see(); err != nil || a.Suspended != "" || a.Role != auth.Administrator || b.Suspended != "" {
			t.Fatalf("at first: %+v, %+v, %v", a, b, err)
		}
		for _, name := range []string{"ada", "grace"} {
			if _, err := s.Admin().SetUserRole(ctx, name, auth.Moderator); err != nil {
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
			if _, err := s.SuspendUser(ctx, by, name, "spam"); err != nil {
				t.Fatal(err)
			}
		}
		if a, b, err := see(); err != nil || a.Suspended != "spam" || b.Suspended != "spam" {
			t.Errorf("after the suspension: %+v, %+v, %v", a, b, err)
		}
		if _, err := s.SuspendAndRevokeTokens(ctx, by, "ada", "spam"); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Authenticate(ctx, c.token); CodeOf(err) != Unauthenticated {
			t.Errorf("after the revocation: got %v, want %s", err, Unauthenticated)
		}
		if err := s.Admin().DeleteUser(ctx, "grace"); err != nil {
			t.Fatal(err)
		}
		if _, err := other.AuthenticateBearer(ctx, "token", bearer); CodeOf(err) != Unauthenticated {
			t.Errorf("after the deletion: got %v, want %s", err, Unauthenticated)
		}
	})
}
