package models

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
)

// maxSet is the maximum number of rows that one statement of setEach changes.
const maxSet = 1_000

// setEach changes the row of each ID of a table. set is the assignment and where a condition, in
// both of which v.n is the value of the row's ID. Values of IDs without a row are ignored.
//
// The rows are locked in the order of their IDs before, so that two nodes do not deadlock. The join
// could change them in any order.
func (db *DB) setEach(ctx context.Context, tx bun.Tx, table, set, where string, values map[int64]int64) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(values)), maxSet) {
		if err := db.lockRows(ctx, tx, table, ids); err != nil {
			return err
		}
		var rows []byte
		for _, id := range ids {
			rows = append(strconv.AppendInt(append(rows, ",("...), id, 10), ',')
			rows = append(strconv.AppendInt(rows, values[id], 10), ')')
		}
		// column1 and column2 are what both engines call the columns of VALUES.
		_, err := tx.NewRaw("UPDATE ? AS x SET ? FROM (SELECT column1 AS id, column2 AS n FROM (VALUES ?) AS pairs) AS v WHERE x.id = v.id AND ?",
			bun.Ident(table), bun.Safe(set), bun.Safe(rows[1:]), bun.Safe(where)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// lockRows locks rows against changes in the order of their IDs. Transactions that only refer to
// the rows need not wait. SQLite has no row locks, and needs none.
func (db *DB) lockRows(ctx context.Context, tx bun.Tx, table string, ids []int64) error {
	if db.Engine != database.Postgres || len(ids) == 0 {
		return nil
	}
	_, err := tx.NewSelect().Table(table).Column("id").Where("id IN (?)", bun.List(ids)).Order("id").For("NO KEY UPDATE").Exec(ctx)
	return err
}
