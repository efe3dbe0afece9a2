package models

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
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
	Collection *Collection // to which they were moved; nil if they were only removed
	From       []int64     // the IDs of the other collections, from which they were removed
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
	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		from = nil
		if err := s.lockUsage(ctx, tx, caller.UserID); err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := s.lockVisibleTarget(ctx, tx, caller, Target{OnThing, id}); err != nil {
				return about(fmt.Sprintf("thingIds[%d]", slices.Index(m.ThingIDs, id)), err)
			}
		}
		to, err := s.lockOwnCollection(ctx, tx, caller, m.CollectionID)
		if err != nil {
			return err
		}
		rows := make([]*collectionThing, len(ids))
		for i, id := range ids {
			rows[i] = newCollectionThing(to.ID, id)
		}
		var added []int64
		err = tx.NewInsert().Model(&rows).On("CONFLICT (collection_id, thing_id) DO NOTHING").Returning("thing_id").Scan(ctx, &added)
		if err := ignoreNoRows(err); err != nil {
			return err
		}
		if err := count(ctx, tx, collectionThings.by(int64(len(added)), to.ID), thingCollects.by(1, added...)); err != nil {
			return err
		}
		if id := m.FromCollectionID; id != nil && *id != to.ID {
			if _, err := s.lockOwnCollection(ctx, tx, caller, *id); err != nil {
				return err
			}
			if from, err = removeThings(ctx, tx, ids, "collection_id = ?", *id); err != nil {
				return err
			}
		}
		if m.FromOthers {
			others, err := removeThings(ctx, tx, ids, "collection_id <> ? AND collection_id IN (SELECT id FROM collections WHERE owner_id = ?)", to.ID, caller.UserID)
			if err != nil {
				return err
			}
			from = append(from, others...)
		}
		// Moving is allowed to users above the quota, because it may have been reduced.
		if len(added) > len(from) {
			if err := s.checkCollected(ctx, tx, caller.UserID, "thingIds"); err != nil {
				return err
			}
		}
		return touchCollection(ctx, tx, to.ID)
	})
	if err != nil {
		return nil, err
	}
	to, err := s.Collection(ctx, caller, m.CollectionID)
	return &MovedThings{Collection: to, From: distinct(from), ThingIDs: m.ThingIDs}, err
}

// RemoveThings removes things from a collection of the caller, or from all collections of the
// caller if collectionID is nil. It is not an error if a thing is not in the collection. It opens a
// transaction.
func (s *Store) RemoveThings(ctx context.Context, caller auth.Caller, thingIDs []int64, collectionID *int64) (*MovedThings, error) {
	if err := checkThingIDs(thingIDs); err != nil {
		return nil, err
	}
	var from []int64
	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if collectionID == nil {
			from, err = removeThings(ctx, tx, thingIDs, "collection_id IN (SELECT id FROM collections WHERE owner_id = ?)", caller.UserID)
			return err
		}
		if _, err := s.lockOwnCollection(ctx, tx, caller, *collectionID); err != nil {
			return err
		}
		from, err = removeThings(ctx, tx, thingIDs, "collection_id = ?", *collectionID)
		return err
	})
	return &MovedThings{From: distinct(from), ThingIDs: thingIDs}, err
}

func checkThingIDs(ids []int64) error {
	if len(ids) == 0 {
		return required("thingIds")
	}
	if len(ids) > maxCollectAtOnce {
		return tooMany("thingIds", len(ids), maxCollectAtOnce)
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			return badInput("thingIds", "thingIds: %d is given twice", id).WithFieldCode(apierror.FieldDuplicate)
		}
	}
	return nil
}

// removeThings removes things from the collections that match a condition, and updates the counts
// and modification times. It returns the collection of each row that it removed.
func removeThings(ctx context.Context, tx bun.Tx, thingIDs []int64, where string, args ...any) (collections []int64, err error) {
	var gone []collectionThing
	err = tx.NewDelete().Model(&gone).Where("thing_id IN (?)", bun.List(thingIDs)).Where(where, args...).
		Returning("collection_id, thing_id").Scan(ctx)
	if err := ignoreNoRows(err); err != nil {
		return nil, err
	}
	var things []int64
	for _, row := range gone {
		collections, things = append(collections, row.CollectionID), append(things, row.ThingID)
	}
	if err := count(ctx, tx, collectionThings.by(-1, collections...), thingCollects.by(-1, things...)); err != nil || len(gone) == 0 {
		return nil, err
	}
	return collections, touchCollection(ctx, tx, collections...)
}

// touchCollection sets the modification time of collections whose things have changed.
func touchCollection(ctx context.Context, tx bun.Tx, ids ...int64) error {
	_, err := tx.NewUpdate().Model((*Collection)(nil)).Set("modified_at = ?", now()).Where("id IN (?)", bun.List(ids)).Exec(ctx)
	return err
}

// maxIDs is the maximum length of a list of IDs.
const maxIDs = 10_000

// CollectedThingIDs returns the IDs of the published things in the collections of a user, without
// duplicates, at most 10,000. It includes private collections only if the user is the caller.
func (s *Store) CollectedThingIDs(ctx context.Context, caller auth.Caller, userID int64) (ids []int64, err error) {
	err = s.db.Read.NewSelect().TableExpr("collection_things AS ct").ColumnExpr("DISTINCT ct.thing_id").
		Join("JOIN collections AS co ON co.id = ct.collection_id AND co.owner_id = ? AND (co.visibility = ? OR co.owner_id = ?)", userID, PublicCollection, caller.UserID).
		Join("JOIN things AS t ON t.id = ct.thing_id AND t.state = ?", Published).
		OrderExpr("ct.thing_id").Limit(maxIDs).Scan(ctx, &ids)
	return ids, err
}

// LikedThingIDs returns the IDs of the published things that a user likes, most recently liked
// first, at most 10,000.
func (s *Store) LikedThingIDs(ctx context.Context, userID int64) (ids []int64, err error) {
	err = s.db.Read.NewSelect().TableExpr("likes AS l").Column("l.target_id").
		Join("JOIN things AS t ON t.id = l.target_id AND t.state = ?", Published).
		Where("l.user_id = ? AND l.target_type = ?", userID, OnThing).OrderExpr("l.id DESC").Limit(maxIDs).Scan(ctx, &ids)
	return ids, err
}

// CollectionsHolding returns, for each of the given things, the collections of a user that contain
// it, the collection to which it was added last first. It reads at most 10,000 rows. It does not
// check visibility, and includes private collections.
func (s *Store) CollectionsHolding(ctx context.Context, userID int64, thingIDs []int64) (map[int64][]*Collection, error) {
	var rows []*collectionThing
	err := s.db.ForIDs(ctx, "collections holding", thingIDs, &rows, func(among, user schema.QueryAppender) *bun.SelectQuery {
		return s.db.Read.NewSelect().Model(&rows).Column("ct.thing_id", "ct.collection_id").
			Join("JOIN collections AS co ON co.id = ct.collection_id").
			Where("ct.thing_id ? AND co.owner_id = ?", among, user).OrderExpr("ct.id DESC").Limit(maxIDs)
	}, userID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.CollectionID
	}
	found, err := s.CollectionsByID(ctx, slices.Compact(slices.Sorted(slices.Values(ids))))
	held := make(map[int64][]*Collection)
	for _, row := range rows {
		if c := found[row.CollectionID]; c != nil {
			held[row.ThingID] = append(held[row.ThingID], c)
		}
	}
	return held, err
}
