package moderation

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// FeatureThing marks a published thing as featured, or removes the mark. It requires a moderator or
// an administrator, who cannot be its creator unless they are an administrator. It returns BadInput
// for a thing that is not published. It opens a transaction.
func (s *Store) FeatureThing(ctx context.Context, caller auth.Caller, id int64, featured bool) (*models.Thing, error) {
	if err := models.RequireModerator(caller); err != nil {
		return nil, err
	}
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		t, err := s.core.LockThing(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := models.CheckDecides(caller, t.OwnerID); err != nil || featured == t.IsFeatured() {
			return err
		}
		if featured && t.State != models.Published {
			return models.Invalid("id", "thing %d is not published: only published things are featured", id)
		}
		t.FeaturedAt = nil
		if featured {
			at := models.Now()
			t.FeaturedAt = &at
		}
		if _, err = tx.NewUpdate().Model(t).Column("featured_at").WherePK().Exec(ctx); err != nil {
			return err
		}
		action := models.UnfeaturedThing
		if featured {
			action = models.FeaturedThing
		}
		return s.core.Record(ctx, tx, caller, models.ModerationEntry{Action: action, UserID: t.OwnerID, ThingID: id})
	})
	if err != nil {
		return nil, err
	}
	return s.core.Thing(ctx, caller, models.AllThingFields, id)
}
