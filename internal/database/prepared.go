package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"
)

// The maximum number of statements whose texts are kept. The least recently used ones are evicted.
// Thousands of different ones are possible, because they depend on the fields that operations
// select. On SQLite the maximum is lower: each connection keeps the statements prepared in the
// memory of this process.
const (
	maxTexts       = 1000
	maxTextsSQLite = 200
)

// newTexts returns the cache for the texts of prepared statements.
func newTexts(engine Engine) *lru.Cache[string, *kept] {
	size := maxTexts
	if engine == SQLite {
		size = maxTextsSQLite
	}
	texts, _ := lru.New[string, *kept](size) // no error: the size is positive
	return texts
}

// ForIDs runs a query for the rows with the given IDs, and reads them into dest, a pointer to a
// slice. name identifies the query: calls with the same name must build the same query. The
// function query builds it. Its parameter among is the condition that a column is one of the IDs.
// Its parameter also is a placeholder for the number that is passed to ForIDs as also, if there is
// one. Without IDs, ForIDs does nothing.
//
// Both engines take longer to plan such statements than to run them, so each connection prepares
// them once. Bun cannot do that. A prepared statement must name its columns instead of selecting *:
// otherwise it would fail on a running server after a migration adds a column.
func (db *DB) ForIDs(ctx context.Context, name string, ids []int64, dest any, query func(among, also schema.QueryAppender) *bun.SelectQuery, also ...int64) error {
	if len(ids) == 0 {
		return nil
	}
	among, list := db.Among(1, ids)
	args := []any{list}
	for _, n := range also {
		args = append(args, n)
	}
	return db.prepared(ctx, name, func() (string, error) { return query(among, placeholder(2)).String(), nil }, dest, args...)
}

// Among returns the condition that a column is one of the given IDs, and the argument that contains
// them. It must be argument number n of its statement, counted from 1.
func (db *DB) Among(n int, ids []int64) (condition bun.Safe, list any) {
	if db.Engine == SQLite {
		list, _ := json.Marshal(ids) // no error: numbers
		return "IN (SELECT value FROM json_each(" + placeholder(n) + "))", string(list)
	}
	return "= ANY(" + placeholder(n) + ")", ids
}

// Constant runs a query without arguments and reads its rows into dest, a pointer to a slice. The
// query is prepared as in [DB.ForIDs].
func (db *DB) Constant(ctx context.Context, text string, dest any) error {
	return db.prepared(ctx, text, func() (string, error) { return text, nil }, dest)
}

// Prepared runs a query with arguments and reads its rows into dest, a pointer to a slice. The
// query is prepared as in [DB.ForIDs], and must be the same for equal names. query returns its
// text, given the placeholders of the arguments.
func (db *DB) Prepared(ctx context.Context, name string, dest any, query func(placeholders []any) string, args ...any) error {
	return db.prepared(ctx, name, func() (string, error) {
		placeholders := make([]any, len(args))
		for i := range args {
			placeholders[i] = placeholder(i + 1)
		}
		return query(placeholders), nil
	}, dest, args...)
}

// prepared runs the query with a name and reads its rows into dest. If the text of the query is not
// kept yet, write returns it.
func (db *DB) prepared(ctx context.Context, name string, write func() (string, error), dest any, args ...any) error {
	s, ok := db.texts.Get(name)
	if !ok {
		text, err := write()
		if err != nil {
			return err
		}
		s = &kept{text: text}
		db.texts.Add(name, s)
	}
	return db.query(ctx, dest, s.text, s, args)
}

// kept is a statement whose text is kept. Each connection prepares it when it first runs it.
type kept struct {
	text string
	// How rows are read, after the first execution. One of them is used.
	postgres atomic.Pointer[postgresReader]
	sqlite   atomic.Pointer[sqliteReader]
}

// placeholder returns the placeholder for argument number n, which is the same on both engines. To
// SQLite, $1 and $2 are names of parameters, numbered in the order in which they first occur in the
// text. Its driver, however, binds arguments by the number in the name.
func placeholder(n int) bun.Safe { return bun.Safe("$" + strconv.Itoa(n)) }

// Bind returns a connection that runs a query in the transaction tx with arguments. The text of the
// query refers to them as $1, $2 and so on. The connection of the database keeps the statement
// prepared, so the rest of the text should be the same each time.
func Bind(tx bun.IDB, args ...any) bun.IConn {
	engine, conn := SQLite, bun.IConn(tx)
	if tx.Dialect().Name() == dialect.PG {
		engine = Postgres
	}
	// If Bun's types were used as the connection, they would call the query hooks a second time.
	switch tx := tx.(type) {
	case bun.Tx:
		conn = tx.Tx
	case *bun.DB:
		conn = tx.DB
	}
	return newBound(engine, conn, args)
}

// bound is a connection that runs a query with arguments. Bun itself has no arguments: it writes
// values into the text. The statement stays prepared.
type bound struct {
	conn bun.IConn
	args []any
}

func newBound(engine Engine, conn bun.IConn, args []any) bound {
	if engine == Postgres {
		return bound{conn, append([]any{pgx.QueryExecModeCacheStatement}, args...)}
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
