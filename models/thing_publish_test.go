package models

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestNotifyDuringDeletion checks that an ancestor that is deleted while a remix is published does
// not prevent the publication.
func TestNotifyDuringDeletion(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ben := newUser(t, s, "ben")
		ancestor, _ := published(t, s, ben)
		remix, _ := published(t, s, ada)
		const deleted = 999_999
		err := s.DB.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			return notifyRemix(ctx, tx, remix, []int64{deleted, ancestor.ID})
		})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := s.DB.Read.NewSelect().Table("notifications").Where("user_id = ?", ben.UserID).Count(t.Context()); n != 1 || err != nil {
			t.Errorf("%d notifications of the other ancestor (%v)", n, err)
		}
	})
}
