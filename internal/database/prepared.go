package database

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"
)

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
	return bound{conn, DialectOf(tx).bind(args)}
}

// bound is a connection that runs a query with arguments. Bun itself has no arguments: it writes
// values into the text. The statement stays prepared.
type bound struct {
	conn bun.IConn
	args []any
}

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
