package models

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strconv"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/meshyard/meshyard/internal/database"
)

// byID reads the rows whose column is one of ids, in one statement, and returns them by ID. add
// adds the columns to the query, if they are not those of the model.
func byID[T any](ctx context.Context, db *DB, ids []int64, add func(*bun.SelectQuery) *bun.SelectQuery, column string, id func(*T) int64) (map[int64]*T, error) {
	return byIDWith(ctx, db, ids, extras{}, func(q *bun.SelectQuery, _ schema.QueryAppender) *bun.SelectQuery { return add(q) }, column, id)
}

// readOne returns the object with an ID, or NotFound if read, which reads objects by ID, does not
// find it.
func readOne[T any](ctx context.Context, read func(ctx context.Context, ids []int64) (map[int64]*T, error), noun string, id int64) (*T, error) {
	found, err := read(ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	if found[id] == nil {
		return nil, notFound(noun, id)
	}
	return found[id], nil
}

// unchanged adds nothing to a query.
func unchanged(q *bun.SelectQuery) *bun.SelectQuery { return q }

// adder adds columns to a query. It also gets the ID of the caller, because some columns depend on
// it.
type adder = func(q *bun.SelectQuery, user schema.QueryAppender) *bun.SelectQuery

// byIDWith is byID for rows with extras.
func byIDWith[T any](ctx context.Context, db *DB, ids []int64, with extras, add adder, column string, id func(*T) int64) (map[int64]*T, error) {
	var rows []*T
	err := db.ForIDs(ctx, columnsName[T](ctx, db, with)+" by "+column, ids, &rows, func(among, user schema.QueryAppender) *bun.SelectQuery {
		return add(db.Read.NewSelect().Model(&rows), user).Where("? ?", bun.Safe(column), among)
	}, with.also()...)
	found := make(map[int64]*T, len(rows))
	for _, row := range rows {
		found[id(row)] = row
	}
	return found, err
}

// columnsName identifies the columns of rows that are read with extras.
func columnsName[T any](ctx context.Context, db *DB, with extras) string {
	table := db.Read.Table(reflect.TypeFor[T]()).Name
	return table + " " + strconv.Itoa(int(neededTexts(ctx, table))) + " with " + with.name()
}

// rowReader defines how to read the objects of one type that lists refer to, by ID and on pages.
type rowReader[T any] struct {
	db     *DB
	with   extras
	add    adder
	column string                                  // the column with the IDs, such as "t.id"
	listed func(*T) (id int64, l *database.Listed) // the ID and the embedded Listed
}

// byID returns the objects with the given IDs, by ID.
func (r rowReader[T]) byID(ctx context.Context, ids []int64) (map[int64]*T, error) {
	return byIDWith(ctx, r.db, ids, r.with, r.add, r.column, func(object *T) int64 {
		id, _ := r.listed(object)
		return id
	})
}

// onPages returns the same part of the list of each parent, with the objects.
func (r rowReader[T]) onPages(ctx context.Context, l List, parents []int64, part Slice) (map[int64]JoinedPage[*T], error) {
	return database.Joined(ctx, l, parents, part, database.Objects[T]{Name: columnsName[T](ctx, r.db, r.with), Add: r.add, Also: r.with.also(), ID: r.column, Listed: r.listed})
}

// byParent groups rows that are sorted by their parent. The groups are subslices of rows.
func byParent[T any](rows []T, parent func(T) int64) map[int64][]T {
	groups := make(map[int64][]T)
	for len(rows) > 0 {
		id, n := parent(rows[0]), 1
		for n < len(rows) && parent(rows[n]) == id {
			n++
		}
		groups[id], rows = rows[:n:n], rows[n:]
	}
	return groups
}

// ignoreNoRows returns nil if err is sql.ErrNoRows, and otherwise err.
func ignoreNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// notFoundIfNoRows returns NotFound if err is sql.ErrNoRows, and otherwise err.
func notFoundIfNoRows(err error, noun string, id int64) error {
	if errors.Is(err, sql.ErrNoRows) {
		return notFound(noun, id)
	}
	return err
}

// setOf returns the set of the given IDs.
func setOf(ids []int64) map[int64]bool {
	set := make(map[int64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}
