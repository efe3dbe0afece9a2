package collections

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// Collect adds a thing that the caller may see to a collection of the caller. It is not an error if
// the thing is already in the collection. It opens a transaction.
func (s *Store) Collect(ctx context.Context, caller auth.Caller, collectionID,
	thingID int64) (*models.Collection, error) {
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := s.CollectIn(ctx, tx, caller, collectionID, thingID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.core.Collection(ctx, caller, models.AllCollectionFields, collectionID)
}

// CollectIn is Collect in a transaction of the caller that has locked neither things nor
// collections. It reports whether the thing was not in the collection before.
func (s *Store) CollectIn(ctx context.Context, tx bun.Tx, caller auth.Caller, collectionID,
	thingID int64) (added bool, err error) {
	err = s.changeCollectionIn(ctx, tx, caller, collectionID, func(ctx context.Context, tx bun.Tx,
		c *models.Collection) error {
		if _, err := s.core.LockVisibleTarget(ctx, tx, caller, models.Target{Type: models.OnThing, ID: thingID}); err != nil {
			return models.About("thingId", err)
		}
		done, err := tx.NewInsert().Model(models.NewCollectionThing(c.ID, thingID)).
			On("CONFLICT (collection_id, thing_id) DO NOTHING").Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); n == 0 || err != nil {
			return err
		}
		added = true
		if err := models.AddCounts(ctx, tx, models.CollectionThings.By(1, c.ID),
			models.ThingCollects.By(1, thingID)); err != nil {
			return err
		}
		return s.core.CheckCollected(ctx, tx, caller.UserID, "thingId")
	})
	return added, err
}

// Uncollect removes a thing from a collection of the caller. It is not an error if the thing is not
// in the collection. It opens a transaction.
func (s *Store) Uncollect(ctx context.Context, caller auth.Caller, collectionID,
	thingID int64) (*models.Collection, error) {
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		return s.UncollectIn(ctx, tx, caller, collectionID, thingID)
	})
	if err != nil {
		return nil, err
	}
	return s.core.Collection(ctx, caller, models.AllCollectionFields, collectionID)
}

// UncollectIn is Uncollect in a transaction of the caller that has locked neither things nor
// collections.
func (s *Store) UncollectIn(ctx context.Context, tx bun.Tx, caller auth.Caller, collectionID, thingID int64) error {
	return s.changeCollectionIn(ctx, tx, caller, collectionID, func(ctx context.Context, tx bun.Tx,
		c *models.Collection) error {
		done, err := tx.NewDelete().Model((*models.CollectionThing)(nil)).Where("collection_id = ? AND thing_id = ?", c.ID,
			thingID).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); n == 0 || err != nil {
			return err
		}
		return models.AddCounts(ctx, tx, models.CollectionThings.By(-1, c.ID), models.ThingCollects.By(-1, thingID))
	})
}
