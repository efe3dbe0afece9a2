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

// TestQuotaBesideDeletion checks that an object is allowed if another one is deleted between the
// statement that counts them and the one that computes how long to wait.
func TestQuotaBesideDeletion(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		s.Options.Quotas.Things = 1
		cataloguetest.Published(t, s, ada)
		err := s.DB.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			u, err := s.UsageOf(ctx, tx, ada.UserID, s.Options.Quotas)
			if err != nil || u.ThingsToday != 1 {
				t.Fatalf("%d things today (%v), want 1", u.ThingsToday, err)
			}
			if _, err := tx.NewRaw("DELETE FROM files").Exec(ctx); err != nil {
				return err
			}
			if _, err := tx.NewRaw("DELETE FROM things").Exec(ctx); err != nil {
				return err
			}
			return models.TooManyToday(ctx, tx, (*models.Thing)(nil), "created %d things", ada.UserID, 1)
		})
		if err != nil {
			t.Error(err)
		}
		if _, err := s.Maintenance.CollectGarbage(t.Context(), 0, false); err != nil {
			t.Error(err)
		}
	})
}
