package models

import (
	"context"
	"fmt"
)

// CollectionNamed returns the ID of the oldest collection of a user that has a name. It returns
// NotFound if there is none.
func (a Admin) CollectionNamed(ctx context.Context, ownerID int64, name string) (id int64, err error) {
	err = a.store.DB.Read.NewSelect().Model((*Collection)(nil)).ColumnExpr("coalesce(min(co.id), 0)").
		Where("co.owner_id = ? AND co.name = ?", ownerID, name).Scan(ctx, &id)
	if err != nil {
		return 0, fmt.Errorf("look up collection %s: %w", name, err)
	}
	if id == 0 {
		return 0, Fail(NotFound, "user %d has no collection %q", ownerID, name)
	}
	return id, nil
}
