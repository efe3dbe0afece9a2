package models

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestTokenBesideDeletedAccount checks that the operator cannot create a token of a user whose
// account is deleted at the same time: it would be valid.
func TestTokenBesideDeletedAccount(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		err := beside(t, s, func(ctx context.Context, tx bun.Tx) error {
			if _, err := s.lockAccount(ctx, tx, ada.UserID); err != nil {
				return err
			}
			_, err := tx.NewRaw("UPDATE users SET deleted_at = ? WHERE id = ?", now(), ada.UserID).Exec(ctx)
			return err
		}, func() error {
			_, err := s.Admin().CreateToken(t.Context(), "ada", "", auth.Scopes{auth.Read}, 0)
			return err
		})
		if CodeOf(err) != NotFound {
			t.Errorf("the creation returned %v, want %s", err, NotFound)
		}
	})
}
