package models

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
)

// maxSet is the maximum number of rows that one statement of setEach changes.
const maxSet = 1_000

// setEach changes the rows of a table whose column by is one of the keys of values. set is the
// assignment and where a condition; in both, x is the row and v.n the value of its key. Keys
// without a row are ignored.
//
// It changes and locks the rows in an unspecified order. Unless the caller has locked them before,
// it must call lockRows first, so that two nodes do not deadlock.
func setEach(ctx context.Context, tx bun.Tx, table, by, set, where string, values map[int64]int64) error {
	for keys := range slices.Chunk(slices.Sorted(maps.Keys(values)), maxSet) {
		var rows []byte
		for _, key := range keys {
			rows = append(strconv.AppendInt(append(rows, ",("...), key, 10), ',')
			rows = append(strconv.AppendInt(rows, values[key], 10), ')')
		}
		// Both engines name the columns of VALUES column1 and column2.
		_, err := tx.NewRaw("UPDATE ? AS x SET ? FROM (SELECT column1 AS key, column2 AS n FROM (VALUES ?) AS pairs) AS v WHERE x.? = v.key AND ?",
			bun.Ident(table), bun.Safe(set), bun.Safe(rows[1:]), bun.Ident(by), bun.Safe(where)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// lockRows locks rows against changes, in the order of their IDs. Transactions that only insert
// references to the rows do not wait. SQLite has no row locks, and needs none.
func lockRows(ctx context.Context, tx bun.Tx, table string, ids []int64) error {
	if tx.Dialect().Name() != dialect.PG || len(ids) == 0 {
		return nil
	}
	_, err := tx.NewSelect().Table(table).Column("id").Where("id IN (?)", bun.List(ids)).Order("id").For("NO KEY UPDATE").Exec(ctx)
	return err
}

// asJSON returns values as one argument of a statement of SQLite, which reads them by json_each. So
// its text is the same for any number of them.
func asJSON(values any) string {
	text, _ := json.Marshal(values) // no error: numbers and texts
	return string(text)
}
