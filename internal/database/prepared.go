package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"
)

// Among returns the condition that a column is one of the given IDs, and the argument that contains
// them. It must be argument number n of its statement, counted from 1.
func (db *DB) Among(n int, ids []int64) (condition bun.Safe, list any) {
	if db.Engine == SQLite {
		list, _ := json.Marshal(ids) // no error: numbers
		return "IN (SELECT value FROM json_each(" + placeholder(n) + "))", string(list)
	}
	return "= ANY(" + placeholder(n) + ")", ids
}

func placeholder(n int) bun.Safe { return bun.Safe("$" + strconv.Itoa(n)) }

// Bind returns a connection that runs a query in the transaction tx with arguments. The text of the
// query refers to them as $1, $2 and so on. The connection of the database keeps the statement
// prepared, so the rest of the text should be the same each time.
func Bind(tx bun.IDB, args ...any) bun.IConn {
	conn := bun.IConn(tx)
	// If Bun's types were used as the connection, they would call the query hooks a second time.
	switch tx := tx.(type) {
	case bun.Tx:
		conn = tx.Tx
	case *bun.DB:
		conn = tx.DB
	}
	return newBound(tx.Dialect(), conn, args)
}

// bound is a connection that runs a query with arguments. Bun itself has no arguments: it writes
// values into the text. The statement stays prepared.
type bound struct {
	conn bun.IConn
	args []any
}

func newBound(d schema.Dialect, conn bun.IConn, args []any) bound {
	if d.Name() == dialect.PG {
		return bound{conn, append([]any{keptMode(d)}, args...)}
	}
	for i, arg := range args {
		args[i] = sqliteArg(arg)
	}
	return bound{conn, args}
}

// sqliteArg returns an argument of a statement with times in the format of SQLiteTime.
func sqliteArg(arg any) any {
	switch at := arg.(type) {
	case time.Time:
		return SQLiteTime(at)
	case *time.Time:
		if at != nil {
			return SQLiteTime(*at)
		}
	}
	return arg
}

// SQLiteTime returns a time in the format in which Bun writes it into SQLite statements. The format
// must be the same everywhere, because SQLite compares times as texts; the driver would use another
// one.
func SQLiteTime(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05.999999-07:00") }

// QueryContext implements [bun.IConn].
func (b bound) QueryContext(ctx context.Context, text string, _ ...any) (*sql.Rows, error) {
	return b.conn.QueryContext(keepPrepared(ctx), text, b.args...)
}

// QueryRowContext implements [bun.IConn].
func (b bound) QueryRowContext(ctx context.Context, text string, _ ...any) *sql.Row {
	return b.conn.QueryRowContext(keepPrepared(ctx), text, b.args...)
}

// ExecContext implements [bun.IConn].
func (b bound) ExecContext(ctx context.Context, text string, _ ...any) (sql.Result, error) {
	return b.conn.ExecContext(keepPrepared(ctx), text, b.args...)
}
