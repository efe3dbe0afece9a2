package models

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strconv"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// byID reads the rows whose column is one of ids, in one statement, keyed by id.
func byID[T any](ctx context.Context, db *DB, ids []int64, q func(rows *[]*T) *bun.SelectQuery, column string, id func(*T) int64) (map[int64]*T, error) {
	var rows []*T
	// The columns, and so the text of the statement, depend on the long texts that are needed.
	name := column + strconv.Itoa(int(neededTexts(ctx, db.Read.Table(reflect.TypeFor[T]()).Name)))
	err := db.ForIDs(ctx, name, ids, &rows, func(among, _ schema.QueryAppender) *bun.SelectQuery {
		return q(&rows).Where("? ?", bun.Safe(column), among)
	})
	found := make(map[int64]*T, len(rows))
	for _, row := range rows {
		found[id(row)] = row
	}
	return found, err
}

// ignoreNoRows forgets that nothing was found where that is no failure.
func ignoreNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// notFoundIfNoRows returns NotFound where a query found no row, else err itself.
func notFoundIfNoRows(err error, noun string, id int64) error {
	if errors.Is(err, sql.ErrNoRows) {
		return notFound(noun, id)
	}
	return err
}
