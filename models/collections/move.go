package collections

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// maxCollectAtOnce is the maximum number of things that one call adds to a collection, removes from
// it, or reorders.
const maxCollectAtOnce = 100

// MoveThings is the input of [Store.MoveThings].
type MoveThings struct {
	ThingIDs         []int64
	CollectionID     int64
	FromCollectionID *int64 // another collection of the caller to remove them from; nil: none
	FromOthers       bool   // remove them from all other collections of the caller
}

// MovedThings is the result of [Store.MoveThings] and [Store.RemoveThings].
type MovedThings struct {
	Collection *models.Collection // to which they were moved; nil if they were only removed
	From       []int64            // the IDs of the other collections, from which they were removed
	ThingIDs   []int64
}

// MoveThings adds things that the caller may see to a collection of the caller and, if requested,
// removes them from other collections of the caller. It is atomic. It is not an error if a thing is
// already in the collection. It opens a transaction.
func (s *Store) MoveThings(ctx context.Context, caller auth.Caller, m MoveThings) (*MovedThings, error) {
	if err := checkThingIDs(m.ThingIDs); err != nil {
		return nil, err
	}
	// Lock the things in ID order, so that two calls do not deadlock.
	ids := slices.Sorted(slices.Values(m.ThingIDs))
	var from []int64
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		from = nil
		if err := s.core.LockUsage(ctx, tx, caller.UserID); err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := s.core.LockVisibleTarget(ctx, tx, caller, models.Target{Type: models.OnThing, ID: id}); err != nil {
				return models.About(fmt.Sprintf("thingIds[%d]", slices.Index(m.ThingIDs, id)), err)
			}
		}
		to, err := s.core.LockOwnCollection(ctx, tx, caller, m.CollectionID)
		if err != nil {
			return err
		}
		rows := make([]*models.CollectionThing, len(ids))
		for i, id := range ids {
			rows[i] = models.NewCollectionThing(to.ID, id)
		}
		var added []int64
		err = tx.NewInsert().Model(&rows).On("CONFLICT (collection_id, thing_id) DO NOTHING").Returning("thing_id").
			Scan(ctx, &added)
		if err := models.IgnoreNoRows(err); err != nil {
			return err
		}
		if err := models.AddCounts(ctx, tx, models.CollectionThings.By(int64(len(added)), to.ID),
			models.ThingCollects.By(1, added...)); err != nil {
			return err
		}
		if id := m.FromCollectionID; id != nil && *id != to.ID {
			if _, err := s.core.LockOwnCollection(ctx, tx, caller, *id); err != nil {
				return models.About("fromCollectionId", err)
			}
			if from, err = removeThings(ctx, tx, ids, "collection_id = ?", *id); err != nil {
				return err
			}
		}
		if m.FromOthers {
			others, err := removeThings(ctx, tx, ids,
				"collection_id <> ? AND collection_id IN (SELECT id FROM collections WHERE owner_id = ?)", to.ID, caller.UserID)
			if err != nil {
				return err
			}
			from = append(from, others...)
		}
		// Moving is allowed to users above the quota, because it may have been reduced.
		if len(added) > len(from) {
			if err := s.core.CheckCollected(ctx, tx, caller.UserID, "thingIds"); err != nil {
				return err
			}
		}
		return touchCollection(ctx, tx, to.ID)
	})
	if err != nil {
		return nil, err
	}
	to, err := s.core.Collection(ctx, caller, models.AllCollectionFields, m.CollectionID)
	return &MovedThings{Collection: to, From: models.Distinct(from), ThingIDs: m.ThingIDs}, err
}

// RemoveThings removes things from a collection of the caller, or from all collections of the
// caller if collectionID is nil. It is not an error if a thing is not in the collection. It opens a
// transaction.
func (s *Store) RemoveThings(ctx context.Context, caller auth.Caller, thingIDs []int64,
	collectionID *int64) (*MovedThings, error) {
	if err := checkThingIDs(thingIDs); err != nil {
		return nil, err
	}
	var from []int64
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if collectionID == nil {
			from, err = removeThings(ctx, tx, thingIDs, "collection_id IN (SELECT id FROM collections WHERE owner_id = ?)",
				caller.UserID)
			return err
		}
		if _, err := s.core.LockOwnCollection(ctx, tx, caller, *collectionID); err != nil {
			return err
		}
		from, err = removeThings(ctx, tx, thingIDs, "collection_id = ?", *collectionID)
		return err
	})
	return &MovedThings{From: models.Distinct(from), ThingIDs: thingIDs}, err
}

func checkThingIDs(ids []int64) error {
	if len(ids) == 0 {
		return models.RequiredList("thingIds")
	}
	if len(ids) > maxCollectAtOnce {
		return models.TooMany("thingIds", len(ids), maxCollectAtOnce)
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			return models.GivenTwice("thingIds", id)
		}
	}
	return nil
}

// removeThings removes things from the collections that match a condition, and updates the counts
// and modification times. It returns the collection of each row that it removed.
func removeThings(ctx context.Context, tx bun.Tx, thingIDs []int64, where string,
	args ...any) (collections []int64, err error) {
	var gone []models.CollectionThing
	err = tx.NewDelete().Model(&gone).Where("thing_id IN (?)", bun.List(thingIDs)).Where(where, args...).
		Returning("collection_id, thing_id").Scan(ctx)
	if err := models.IgnoreNoRows(err); err != nil {
		return nil, err
	}
	var things []int64
	for _, row := range gone {
		collections, things = append(collections, row.CollectionID), append(things, row.ThingID)
	}
	if err := models.AddCounts(ctx, tx, models.CollectionThings.By(-1, collections...),
		models.ThingCollects.By(-1, things...)); err != nil || len(gone) == 0 {
		return nil, err
	}
	return collections, touchCollection(ctx, tx, collections...)
}

// touchCollection sets the modification time of collections whose things have changed.
func touchCollection(ctx context.Context, tx bun.Tx, ids ...int64) error {
	_, err := tx.NewUpdate().Model((*models.Collection)(nil)).Set("modified_at = ?", models.Now()).
		Where("id IN (?)", bun.List(ids)).Exec(ctx)
	return err
}
