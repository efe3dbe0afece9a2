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

// BindRead is Bind for a query outside transactions that runs where [DB.Read] would run it.
func (db *DB) BindRead(args ...any) bun.IConn { return readBound{db, args} }

// readBound is bound on the pool for the reads of a context.
type readBound struct {
	db   *DB
	args []any
}

func (b readBound) on(ctx context.Context) bound {
	return bound{readPool(ctx, b.db.Read.DB), b.db.bind(b.args)}
}

// QueryContext implements [bun.IConn].
func (b readBound) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return b.on(ctx).QueryContext(ctx, text, args...)
}

// QueryRowContext implements [bun.IConn].
func (b readBound) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	return b.on(ctx).QueryRowContext(ctx, text, args...)
}

// ExecContext implements [bun.IConn].
func (b readBound) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return b.on(ctx).ExecContext(ctx, text, args...)
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
