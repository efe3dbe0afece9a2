package account

import (
	"context"
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/models"
)

// TestSignInBesideReset checks that no session begins if the password is reset after its check.
func TestSignInBesideReset(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		const first, reset = "the first password", "the reset password"
		if err := s.Admin().SetPassword(ctx, "ada", first); err != nil {
			t.Fatal(err)
		}
		who, err := s.CheckPassword(ctx, "ada", first)
		if err != nil {
			t.Fatal(err)
		}
		hash, err := hashPassword(ctx, reset)
		if err != nil {
			t.Fatal(err)
		}
		err = databasetest.Beside(t.Context(), s.core.DB.DB, func(ctx context.Context, tx bun.Tx) error {
			if _, err := s.core.LockAccount(ctx, tx, ada.UserID); err != nil {
				return err
			}
			return errors.Join(replacePassword(ctx, tx, ada.UserID, hash), endSessions(ctx, tx, ada.UserID))
		}, func() error {
			_, err := s.SignIn(ctx, who, "")
			return err
		})
		if n, countErr := s.core.DB.Read.NewSelect().Model((*Session)(nil)).
			Count(ctx); models.CodeOf(err) != models.Unauthenticated || n != 0 || countErr != nil {
			t.Errorf("the sign-in returned %v, want %s, and began %d sessions (%v), want 0", err, models.Unauthenticated, n,
				countErr)
		}
		if who, err = s.CheckPassword(ctx, "ada", reset); err != nil {
			t.Fatal(err)
		}
		if _, err := s.SignIn(ctx, who, ""); err != nil {
			t.Error(err)
		}
	})
}

// TestChangePasswordBesideReset checks that a password that is changed while it is reset, or while
// the account is deleted, is not stored: the current password that was checked is not valid any
// more.
func TestChangePasswordBesideReset(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		const first, reset, changed = "the first password", "the reset password", "the changed password"
		if err := s.Admin().SetPassword(ctx, "ada", first); err != nil {
			t.Fatal(err)
		}
		hash, err := hashPassword(ctx, reset)
		if err != nil {
			t.Fatal(err)
		}
		change := func() error { return s.ChangePassword(ctx, ada, first, changed) }
		err = databasetest.Beside(t.Context(), s.core.DB.DB, func(ctx context.Context, tx bun.Tx) error {
			if _, err := s.core.LockAccount(ctx, tx, ada.UserID); err != nil {
				return err
			}
			return replacePassword(ctx, tx, ada.UserID, hash)
		}, change)
		if models.CodeOf(err) != models.Forbidden {
			t.Errorf("the change returned %v, want %s", err, models.Forbidden)
		}
		if _, err := s.CheckPassword(ctx, "ada", reset); err != nil {
			t.Errorf("the reset password: %v", err)
		}

		if err := s.Admin().SetPassword(ctx, "ada", first); err != nil {
			t.Fatal(err)
		}
		err = databasetest.Beside(t.Context(), s.core.DB.DB, func(ctx context.Context, tx bun.Tx) error {
			if _, err := s.core.LockAccount(ctx, tx, ada.UserID); err != nil {
				return err
			}
			if _, err := tx.NewRaw("UPDATE users SET deleted_at = ? WHERE id = ?", models.Now(), ada.UserID).
				Exec(ctx); err != nil {
				return err
			}
			_, err := tx.NewRaw("DELETE FROM passwords WHERE user_id = ?", ada.UserID).Exec(ctx)
			return err
		}, change)
		if models.CodeOf(err) != models.NotFound {
			t.Errorf("the change returned %v, want %s", err, models.NotFound)
		}
		if n, err := s.core.DB.Read.NewSelect().Model((*password)(nil)).Count(ctx); n != 0 || err != nil {
			t.Errorf("%d passwords (%v), want 0", n, err)
		}
	})
}
