package collections

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// ReorderCollection moves the given things to the front of a collection of the caller, in the given
// order. It returns BadInput if one of them is not in the collection. It opens a transaction.
func (s *Store) ReorderCollection(ctx context.Context, caller auth.Caller, id int64,
	thingIDs []int64) (*models.Collection, error) {
	if err := checkThingIDs(thingIDs); err != nil {
		return nil, err
	}
	return s.changeCollection(ctx, caller, id, func(ctx context.Context, tx bun.Tx, c *models.Collection) error {
		var there []int64
		err := tx.NewSelect().Model((*models.CollectionThing)(nil)).Column("ct.thing_id").
			Where("ct.collection_id = ? AND ct.thing_id IN (?)", c.ID, bun.List(thingIDs)).Scan(ctx, &there)
		if err != nil {
			return err
		}
		for _, thing := range thingIDs {
			if !slices.Contains(there, thing) {
				return models.Invalid("thingIds", "thingIds: thing %d is not in the collection", thing)
			}
		}
		var highest int64
		err = tx.NewSelect().Model((*models.CollectionThing)(nil)).ColumnExpr("max(ct.position)").
			Where("ct.collection_id = ?", c.ID).Scan(ctx, &highest)
		if err != nil {
			return err
		}
		position := make(map[int64]int64)
		for i, thing := range thingIDs {
			position[thing] = highest + int64(len(thingIDs)-i)
		}
		return database.SetEach(ctx, tx, "collection_things", "thing_id", "position = v.n",
			fmt.Sprint("x.collection_id = ", c.ID), position)
	})
}
