package account

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/models"
)

// TestRefreshBesideRevocation checks that a token is refreshed before or after all tokens of the
// sign-in or of the user are revoked: no valid token is left.
func TestRefreshBesideRevocation(t *testing.T) {
	// A sign-in was refreshed once, so its first refresh token was used.
	type signIn struct {
		user          int64
		application   *oauth.Application
		code          string
		first, second string // the refresh tokens
	}
	const redirect = "https://app.example/"
	verifier := strings.Repeat("v", 43)
	challenge := sha256.Sum256([]byte(verifier))
	for _, test := range []struct {
		name string
		hold func(ctx context.Context, tx bun.Tx, s *Store, in signIn) error
		act  func(ctx context.Context, s *Store, in signIn) error
	}{
		{"use of a used refresh token", func(ctx context.Context, tx bun.Tx, s *Store, in signIn) error {
			_, err := s.refresh(ctx, tx, in.application, in.second)
			return err
		}, func(ctx context.Context, s *Store, in signIn) error {
			_, err := s.Refresh(ctx, in.application, in.first)
			return err
		}},
		{"refresh after the use of a used refresh token", func(ctx context.Context, tx bun.Tx, s *Store, in signIn) error {
			_, err := s.refresh(ctx, tx, in.application, in.first)
			return err
		}, func(ctx context.Context, s *Store, in signIn) error {
			_, err := s.Refresh(ctx, in.application, in.second)
			return err
		}},
		{"second use of the code", func(ctx context.Context, tx bun.Tx, s *Store, in signIn) error {
			_, err := s.refresh(ctx, tx, in.application, in.second)
			return err
		}, func(ctx context.Context, s *Store, in signIn) error {
			_, err := s.Redeem(ctx, in.application, in.code, redirect, verifier)
			return err
		}},
		{"suspension", func(ctx context.Context, tx bun.Tx, s *Store, in signIn) error {
			u, err := s.core.LockAccount(ctx, tx, in.user)
			if err != nil {
				return err
			}
			return revokeAccess(ctx, tx, u.ID, models.Now())
		}, func(ctx context.Context, s *Store, in signIn) error {
			_, err := s.Refresh(ctx, in.application, in.second)
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
				ctx := t.Context()
				_, registered, err := s.Admin().
					RegisterApplication(ctx, NewApplication{Name: "App", RedirectURIs: []string{redirect}, IsPublic: true})
				if err != nil {
					t.Fatal(err)
				}
				in := signIn{user: ada.UserID, application: registered.oauth()}
				in.code, err = s.Authorize(ctx, oauth.Grant{
					Application: in.application, UserID: ada.UserID, Redirect: redirect, Scopes: auth.Scopes{auth.Read},
					Challenge: base64.RawURLEncoding.EncodeToString(challenge[:]),
				})
				if err != nil {
					t.Fatal(err)
				}
				token, err := s.Redeem(ctx, in.application, in.code, redirect, verifier)
				if err != nil {
					t.Fatal(err)
				}
				in.first = token.Refresh
				if token, err = s.Refresh(ctx, in.application, in.first); err != nil {
					t.Fatal(err)
				}
				in.second = token.Refresh
				err = databasetest.Beside(t.Context(), s.core.DB.DB,
					func(ctx context.Context, tx bun.Tx) error { return test.hold(ctx, tx, s, in) },
					func() error { return test.act(ctx, s, in) })
				if models.CodeOf(err) != models.BadInput {
					t.Errorf("the other call returned %v, want %s", err, models.BadInput)
				}
				valid, err := s.core.DB.Read.NewSelect().Model((*Token)(nil)).Where("tk.revoked_at IS NULL").Count(ctx)
				if valid != 0 || err != nil {
					t.Errorf("%d valid tokens are left (%v), want 0", valid, err)
				}
			})
		})
	}
}

// NewRefreshToken returns the first tokens of a sign-in of a user to an application.
func NewRefreshToken(t *testing.T, s *Store, user auth.Caller, a *Application) (token *oauth.Token) {
	t.Helper()
	err := s.core.DB.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) (err error) {
		token, err = s.issueWithRefresh(ctx, tx, &Token{UserID: user.UserID, ApplicationID: a.ID, Scopes: "read"}, "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestRefreshTokensExpire checks that a refresh token can be used for 60 days.
func TestRefreshTokensExpire(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		_, a, err := s.Admin().RegisterApplication(ctx, NewApplication{Name: "App"})
		if err != nil {
			t.Fatal(err)
		}
		token := NewRefreshToken(t, s, ada, a)
		row := new(refreshToken)
		if err := s.core.DB.Read.NewSelect().Model(row).Scan(ctx); err != nil {
			t.Fatal(err)
		}
		const lifetime = 60 * 24 * time.Hour
		if left := row.ExpiresAt.Sub(models.Now()); left > lifetime || left < lifetime-time.Hour {
			t.Errorf("it expires in %s, want %s", left, lifetime)
		}
		if _, err := s.core.DB.Write.NewRaw("UPDATE refresh_tokens SET expires_at = ?", models.Now()).Exec(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Refresh(ctx, a.oauth(), token.Refresh); models.CodeOf(err) != models.BadInput {
			t.Errorf("use after the expiry: got %v, want BAD_USER_INPUT", err)
		}
	})
}

// TestTokensBesideDeletedApplication checks that an application that is deleted at the same time
// gets no tokens, and that this is not an internal error.
func TestTokensBesideDeletedApplication(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		for _, test := range []struct {
			name string
			act  func(g oauth.Grant, code, refresh string) error
			code models.Code
		}{
			{"authorize", func(g oauth.Grant, _, _ string) error { _, err := s.Authorize(ctx, g); return err }, models.NotFound},
			{"authorize implicitly", func(g oauth.Grant, _, _ string) error {
				_,
					err := s.AuthorizeImplicitly(ctx, g)
				return err
			}, models.NotFound},
			{"redeem", func(g oauth.Grant, code, _ string) error {
				_, err := s.Redeem(ctx, g.Application, code, "", "")
				return err
			}, models.BadInput},
			{"refresh", func(g oauth.Grant, _, refresh string) error {
				_, err := s.Refresh(ctx, g.Application, refresh)
				return err
			}, models.BadInput},
		} {
			_, a, err := s.Admin().RegisterApplication(ctx, NewApplication{Name: "App"})
			if err != nil {
				t.Fatal(err)
			}
			g := oauth.Grant{Application: a.oauth(), UserID: ada.UserID, Scopes: auth.Scopes{auth.Read}}
			code, err := s.Authorize(ctx, g)
			if err != nil {
				t.Fatal(err)
			}
			token := NewRefreshToken(t, s, ada, a)
			err = databasetest.Beside(t.Context(), s.core.DB.DB, func(ctx context.Context, tx bun.Tx) error {
				_, err := tx.NewDelete().Model((*Application)(nil)).Where("id = ?", a.ID).Exec(ctx)
				return err
			}, func() error { return test.act(g, code, token.Refresh) })
			if models.CodeOf(err) != test.code {
				t.Errorf("%s: %v, want %s", test.name, err, test.code)
			}
		}
	})
}
