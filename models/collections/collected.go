package collections

import (
	"context"
	"slices"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// CollectedThingIDs returns the IDs of the published things in the collections of a user, without
// duplicates, at most 10,000. It includes private collections only if the user is the caller.
func (s *Store) CollectedThingIDs(ctx context.Context, caller auth.Caller, userID int64) (ids []int64, err error) {
	err = s.core.DB.Read.NewSelect().TableExpr("collection_things AS ct").ColumnExpr("DISTINCT ct.thing_id").
		Join("JOIN collections AS co ON co.id = ct.collection_id AND co.owner_id = ? AND (co.visibility = ? OR co.owner_id = ?)", userID, models.PublicCollection, caller.UserID).
		Join("JOIN things AS t ON t.id = ct.thing_id AND t.state = ?", models.Published).
		OrderExpr("ct.thing_id").Limit(models.MaxIDs).Scan(ctx, &ids)
	return ids, err
}

// holdingKey reads the collections of the user in argument 1 that hold the things in argument 0.
type holdingKey struct{}

// Text implements [database.Key].
func (holdingKey) Text(b *database.Builder) (string, error) {
	return b.Text(b.Select().TableExpr("collection_things AS ct").Column("ct.thing_id", "ct.collection_id").
		Join("JOIN collections AS co ON co.id = ct.collection_id").
		Where("ct.thing_id ? AND co.owner_id = ?", b.InList(0), b.Arg(1)).OrderExpr("ct.id DESC").Limit(models.MaxIDs))
}

// CollectionsHolding returns, for each of the given things, the collections of the caller that
// contain it, the collection to which it was added last first. It reads at most 10,000 rows. It
// does not check visibility, and includes private collections.
func (s *Store) CollectionsHolding(ctx context.Context, caller auth.Caller, fields models.CollectionFields,
	thingIDs []int64) (map[int64][]*models.Collection, error) {
	if len(thingIDs) == 0 {
		return nil, nil
	}
	var rows []*models.CollectionThing
	err := database.Read(ctx, s.core.DB.DB, holdingKey{}, &rows, thingIDs, caller.UserID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.CollectionID
	}
	found, err := s.core.CollectionsByID(ctx, caller, fields, slices.Compact(slices.Sorted(slices.Values(ids))))
	held := make(map[int64][]*models.Collection)
	for _, row := range rows {
		if c := found[row.CollectionID]; c != nil {
			held[row.ThingID] = append(held[row.ThingID], c)
		}
	}
	return held, err
}
