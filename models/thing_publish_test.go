package models_test

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
)

// TestNotifyDuringDeletion checks that an ancestor that is deleted while a remix is published does
// not prevent the publication.
func TestNotifyDuringDeletion(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ben := cataloguetest.NewUser(t, s, "ben")
		ancestor, _ := cataloguetest.Published(t, s, ben)
		remix, _ := cataloguetest.Published(t, s, ada)
		const deleted = 999_999
		err := s.DB.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			return s.Raise(ctx, tx, models.ThingRemixed{Thing: remix, AncestorIDs: []int64{deleted, ancestor.ID}})
		})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := s.DB.Read.NewSelect().Table("notifications").Where("user_id = ?", ben.UserID).
			Count(t.Context()); n != 1 || err != nil {
			t.Errorf("%d notifications of the other ancestor (%v)", n, err)
		}
	})
}
