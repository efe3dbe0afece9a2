package database

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// maxTexts is the maximum number of texts of statements that are kept. What operations select makes
// thousands of different ones possible.
const maxTexts = 1000

// ForIDs runs a query about the rows of some ids, and of one more number where that is given. query
// writes it: among is the condition that a column is one of the ids, and also the number. name
// identifies the query.
//
// PostgreSQL takes longer to plan such statements than to run them, so there they are prepared,
// once a connection, which Bun cannot do: pgx does it, asked for these. A statement that is
// prepared must name its columns, or it would break on a running server when a migration adds one.
func (db *DB) ForIDs(ctx context.Context, name string, ids []int64, dest any, query func(among, also schema.QueryAppender) *bun.SelectQuery, also ...int64) error {
	if len(ids) == 0 {
		return nil
	}
	if db.Engine != Postgres {
		number := bun.Safe("")
		if len(also) > 0 {
			number = bun.Safe(strconv.FormatInt(also[0], 10))
		}
		return query(bun.SafeQuery("IN (?)", bun.List(ids)), number).Scan(ctx, dest)
	}
	text, err := db.keptText(name, func() (string, error) { return query(bun.Safe("= ANY($1)"), bun.Safe("$2")).String(), nil })
	if err != nil {
		return err
	}
	args := []any{pgx.QueryExecModeCacheStatement, ids}
	for _, number := range also {
		args = append(args, number)
	}
	return db.query(ctx, dest, text, args...)
}

// Constant runs a query without arguments, which is prepared on PostgreSQL as in [DB.ForIDs], and
// reads its rows into dest, a pointer to a slice.
func (db *DB) Constant(ctx context.Context, text string, dest any) error {
	if db.Engine != Postgres {
		return db.Read.NewRaw(text).Scan(ctx, dest)
	}
	return db.query(ctx, dest, text, pgx.QueryExecModeCacheStatement)
}

// keptText returns the text of the statement of that name, which write writes at its first use.
func (db *DB) keptText(name string, write func() (string, error)) (string, error) {
	if text, ok := db.texts.Load(name); ok {
		return text.(string), nil
	}
	text, err := write()
	if err == nil && db.kept.Add(1) <= maxTexts {
		db.texts.Store(name, text)
	}
	return text, err
}
