package account

import (
	"context"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/models"
)

// TestTokenBesideDeletedAccount checks that the operator cannot create a token of a user whose
// account is deleted at the same time: it would be valid.
func TestTokenBesideDeletedAccount(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		err := databasetest.Beside(t.Context(), s.core.DB.DB, func(ctx context.Context, tx bun.Tx) error {
			if _, err := s.core.LockAccount(ctx, tx, ada.UserID); err != nil {
				return err
			}
			_, err := tx.NewRaw("UPDATE users SET deleted_at = ? WHERE id = ?", models.Now(), ada.UserID).Exec(ctx)
			return err
		}, func() error {
			_, err := s.Admin().CreateToken(t.Context(), "ada", "", auth.Scopes{auth.Read}, 0)
			return err
		})
		if models.CodeOf(err) != models.NotFound {
			t.Errorf("the creation returned %v, want %s", err, models.NotFound)
		}
	})
}

// TestRevokeBesideDeletedAccount checks that revoking a token of an account that is deleted at the
// same time returns that the token does not exist, and nothing about the user.
func TestRevokeBesideDeletedAccount(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		row := &Token{UserID: ada.UserID, Name: "a", Scopes: string(auth.Read)}
		err := s.core.DB.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			_, err := insertToken(ctx, tx, row)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = databasetest.Beside(t.Context(), s.core.DB.DB, func(ctx context.Context, tx bun.Tx) error {
			if _, err := s.core.LockAccount(ctx, tx, ada.UserID); err != nil {
				return err
			}
			_, err := tx.NewRaw("UPDATE users SET deleted_at = ? WHERE id = ?", models.Now(), ada.UserID).Exec(ctx)
			return err
		}, func() error {
			_, err := s.Admin().RevokeAnyToken(t.Context(), row.ID)
			return err
		})
		if want := models.NoSuch("token", row.ID); models.CodeOf(err) != models.NotFound || err.Error() != want.Error() {
			t.Errorf("got %v, want %v", err, want)
		}
	})
}

// TestExpiredTokensOfApplications checks that users see and can revoke the access of an application
// whose access token has expired, because the application can refresh it.
func TestExpiredTokensOfApplications(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		_, registered, err := s.Admin().RegisterApplication(ctx, NewApplication{Name: "App"})
		if err != nil {
			t.Fatal(err)
		}
		row := &Token{UserID: ada.UserID, ApplicationID: registered.ID, Name: "App", Scopes: string(auth.Read)}
		var issued *oauth.Token
		err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			issued, err = s.issueWithRefresh(ctx, tx, row, "")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.core.DB.Write.NewRaw("UPDATE tokens SET expires_at = ? WHERE id = ?", models.Now().Add(-time.Minute),
			row.ID).Exec(ctx); err != nil {
			t.Fatal(err)
		}
		shown, err := s.WorkingTokens(ctx, ada)
		if err != nil || len(shown) != 1 || shown[0].ExpiresAt == nil || !shown[0].ExpiresAt.After(models.Now()) {
			t.Fatalf("the tokens are %+v (%v), want one that expires later", shown, err)
		}
		if _, err := s.RevokeToken(ctx, ada, shown[0].ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Refresh(ctx, registered.oauth(), issued.Refresh); models.CodeOf(err) != models.BadInput {
			t.Errorf("a refresh after the revocation: %v, want %s", err, models.BadInput)
		}
		if shown, err = s.WorkingTokens(ctx, ada); err != nil || len(shown) != 0 {
			t.Errorf("the tokens are %+v (%v), want none", shown, err)
		}
	})
}

// TestRevokingEndsTheSignIn checks that revoking a token of an application ends its sign-in, even
// if the application has refreshed the token since the user saw it, and no other sign-in.
func TestRevokingEndsTheSignIn(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		_, registered, err := s.Admin().RegisterApplication(ctx, NewApplication{Name: "App"})
		if err != nil {
			t.Fatal(err)
		}
		signIn := func() (id int64, refreshed *oauth.Token) {
			t.Helper()
			row := &Token{UserID: ada.UserID, ApplicationID: registered.ID, Name: "App", Scopes: string(auth.Read)}
			err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
				first, err := s.issueWithRefresh(ctx, tx, row, "")
				if err == nil {
					refreshed, err = s.refresh(ctx, tx, registered.oauth(), first.Refresh)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return row.ID, refreshed
		}
		_, other := signIn()
		for name, revoke := range map[string]func(id int64) (*Token, error){
			"by the user":     func(id int64) (*Token, error) { return s.RevokeToken(ctx, ada, id) },
			"by the operator": func(id int64) (*Token, error) { return s.Admin().RevokeAnyToken(ctx, id) },
		} {
			id, token := signIn()
			if _, err := s.Authenticate(ctx, token.Text); err != nil { // fills the cache
				t.Fatal(err)
			}
			if revoked, err := revoke(id); err != nil || revoked.ID != id || revoked.RevokedAt == nil {
				t.Errorf("%s: got %+v, %v, want the token", name, revoked, err)
			}
			if _, err := s.Authenticate(ctx, token.Text); models.CodeOf(err) != models.Unauthenticated {
				t.Errorf("%s: the refreshed token: %v, want %s", name, err, models.Unauthenticated)
			}
			if _, err := s.Refresh(ctx, registered.oauth(), token.Refresh); models.CodeOf(err) != models.BadInput {
				t.Errorf("%s: a refresh: %v, want %s", name, err, models.BadInput)
			}
		}
		if _, err := s.Authenticate(ctx, other.Text); err != nil {
			t.Errorf("another sign-in: %v, want that it works", err)
		}
	})
}

// TestTokenInfoOfFailedRead checks that the failure to read the application of a valid token does
// not look like an unknown token.
func TestTokenInfoOfFailedRead(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ auth.Caller) {
		_, a, err := s.Admin().RegisterApplication(t.Context(), NewApplication{Name: "App"})
		if err != nil {
			t.Fatal(err)
		}
		token, err := s.IssueOwn(t.Context(), a.oauth())
		if err != nil {
			t.Fatal(err)
		}
		// Until the token is cached, authentication is what would fail.
		if clientID, _, err := s.TokenInfo(t.Context(), token.Text); err != nil || clientID != a.ClientID {
			t.Fatalf("got %q, %v, want %q", clientID, err, a.ClientID)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := s.TokenInfo(ctx, token.Text); err == nil || models.CodeOf(err) == models.Unauthenticated {
			t.Errorf("got %v, want another error than UNAUTHENTICATED", err)
		}
	})
}
