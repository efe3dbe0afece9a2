package models

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"
)

// byID reads the rows whose column is one of ids, in one statement, keyed by id.
func byID[T any](ctx context.Context, ids []int64, q func(rows *[]*T) *bun.SelectQuery, column string, id func(*T) int64) (map[int64]*T, error) {
	found := make(map[int64]*T, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	var rows []*T
	if err := q(&rows).Where("? IN (?)", bun.Ident(column), bun.List(ids)).Scan(ctx); err != nil {
		return nil, err
	}
	for _, row := range rows {
		found[id(row)] = row
	}
	return found, nil
}

// ignoreNoRows forgets that nothing was found where that is no failure.
func ignoreNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// gone says that an object is missing where no row was found.
func gone(err error, noun string, id int64) error {
	if errors.Is(err, sql.ErrNoRows) {
		return missing(noun, id)
	}
	return err
}
