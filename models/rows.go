package models

import (
	"context"

	"github.com/uptrace/bun"
)

// byID reads the rows whose column is one of ids, in one statement, keyed by id.
func byID[T any](ctx context.Context, db bun.IDB, ids []int64, column string, id func(*T) int64) (map[int64]*T, error) {
	found := make(map[int64]*T, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	var rows []*T
	if err := db.NewSelect().Model(&rows).Where("? IN (?)", bun.Ident(column), bun.List(ids)).Scan(ctx); err != nil {
		return nil, err
	}
	for _, row := range rows {
		found[id(row)] = row
	}
	return found, nil
}
