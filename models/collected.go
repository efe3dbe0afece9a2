package models

import (
	"context"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/meshyard/meshyard/internal/auth"
)

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
