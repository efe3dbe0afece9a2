package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// Collect adds a thing that the caller may see to a collection of the caller. It is not an error if
// the thing is already in the collection. It opens a transaction.
func (s *Store) Collect(ctx context.Context, caller auth.Caller, collectionID, thingID int64) (*Collection, error) {
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := s.CollectIn(ctx, tx, caller, collectionID, thingID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.Collection(ctx, caller, AllCollectionFields, collectionID)
}

// CollectIn is Collect in a transaction of the caller that has locked neither things nor
// collections. It reports whether the thing was not in the collection before.
func (s *Store) CollectIn(ctx context.Context, tx bun.Tx, caller auth.Caller, collectionID, thingID int64) (added bool, err error) {
	err = s.changeCollectionIn(ctx, tx, caller, collectionID, func(ctx context.Context, tx bun.Tx, c *Collection) error {
		if _, err := s.LockVisibleTarget(ctx, tx, caller, Target{OnThing, thingID}); err != nil {
			return About("thingId", err)
		}
		done, err := tx.NewInsert().Model(newCollectionThing(c.ID, thingID)).
			On("CONFLICT (collection_id, thing_id) DO NOTHING").Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); n == 0 || err != nil {
			return err
		}
		added = true
		if err := AddCounts(ctx, tx, collectionThings.By(1, c.ID), thingCollects.By(1, thingID)); err != nil {
			return err
		}
		return s.checkCollected(ctx, tx, caller.UserID, "thingId")
	})
	return added, err
}

// Uncollect removes a thing from a collection of the caller. It is not an error if the thing is not
// in the collection. It opens a transaction.
func (s *Store) Uncollect(ctx context.Context, caller auth.Caller, collectionID, thingID int64) (*Collection, error) {
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		return s.UncollectIn(ctx, tx, caller, collectionID, thingID)
	})
	if err != nil {
		return nil, err
	}
	return s.Collection(ctx, caller, AllCollectionFields, collectionID)
}

// UncollectIn is Uncollect in a transaction of the caller that has locked neither things nor
// collections.
func (s *Store) UncollectIn(ctx context.Context, tx bun.Tx, caller auth.Caller, collectionID, thingID int64) error {
	return s.changeCollectionIn(ctx, tx, caller, collectionID, func(ctx context.Context, tx bun.Tx, c *Collection) error {
		done, err := tx.NewDelete().Model((*collectionThing)(nil)).Where("collection_id = ? AND thing_id = ?", c.ID, thingID).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); n == 0 || err != nil {
			return err
		}
		return AddCounts(ctx, tx, collectionThings.By(-1, c.ID), thingCollects.By(-1, thingID))
	})
}
