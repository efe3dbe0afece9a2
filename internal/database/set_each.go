package database

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/uptrace/bun"
)

// MaxSet is the maximum number of rows that one statement of SetEach changes.
const MaxSet = 1_000

// SetEach changes the rows of a table whose column by is one of the keys of values. set is the
// assignment and where a condition; in both, x is the row and v.n the value of its key. Keys
// without a row are ignored.
//
// It changes and locks the rows in an unspecified order. Unless the caller has locked them before,
// it must call LockRows first, so that two nodes do not deadlock.
func SetEach(ctx context.Context, tx bun.IDB, table, by, set, where string, values map[int64]int64) error {
	for keys := range slices.Chunk(slices.Sorted(maps.Keys(values)), MaxSet) {
		var rows []byte
		for _, key := range keys {
			rows = append(strconv.AppendInt(append(rows, ",("...), key, 10), ',')
			rows = append(strconv.AppendInt(rows, values[key], 10), ')')
		}
		// Both engines name the columns of VALUES column1 and column2.
		_, err := tx.NewRaw(
			"UPDATE ? AS x SET ? FROM (SELECT column1 AS key, column2 AS n FROM (VALUES ?) AS pairs) AS v WHERE x.? = v.key AND ?",
			bun.Ident(table), bun.Safe(set), bun.Safe(rows[1:]), bun.Ident(by), bun.Safe(where)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}
