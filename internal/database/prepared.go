package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"
)

// The maximum number of texts of statements that are kept. What operations select makes thousands
// of different ones possible. SQLite keeps each of them prepared on each connection, in the memory
// of this process.
const (
	maxTexts       = 1000
	maxTextsSQLite = 200
)

// ForIDs runs a query about the rows of some ids, and of one more number where that is given. query
// writes it: among is the condition that a column is one of the ids, and also the number. name
// identifies the query.
//
// Both engines take longer to plan such statements than to run them, so they are prepared, once a
// connection, which Bun cannot do. A statement that is prepared must name its columns, or it would
// break on a running server when a migration adds one.
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

// Among returns the condition that a column is one of some ids, and the argument that holds them,
// which has the number n among those of its statement.
func (db *DB) Among(n int, ids []int64) (condition bun.Safe, list any) {
	if db.Engine == SQLite {
		list, _ := json.Marshal(ids) // no error: numbers
		return "IN (SELECT value FROM json_each(" + placeholder(n) + "))", string(list)
	}
	return "= ANY(" + placeholder(n) + ")", ids
}

// Constant runs a query without arguments, which is prepared as in [DB.ForIDs], and reads its rows
// into dest, a pointer to a slice.
func (db *DB) Constant(ctx context.Context, text string, dest any) error {
	return db.prepared(ctx, text, func() (string, error) { return text, nil }, dest)
}

// Prepared runs the query of a name with arguments, which is prepared as in [DB.ForIDs], and reads
// its rows into dest, a pointer to a slice. query returns its text, given the placeholders of the
// arguments.
func (db *DB) Prepared(ctx context.Context, name string, dest any, query func(placeholders []any) string, args ...any) error {
	return db.prepared(ctx, name, func() (string, error) {
		placeholders := make([]any, len(args))
		for i := range args {
			placeholders[i] = placeholder(i + 1)
		}
		return query(placeholders), nil
	}, dest, args...)
}

// prepared runs the query of a name, which write writes at its first use, and reads its rows into
// dest. It is prepared unless too many others are.
func (db *DB) prepared(ctx context.Context, name string, write func() (string, error), dest any, args ...any) error {
	var s *kept
	if known, ok := db.texts.Load(name); ok {
		s = known.(*kept)
	} else {
		text, err := write()
		if err != nil {
			return err
		}
		s = db.keep(name, text)
	}
	if db.Engine == SQLite {
		return db.Read.NewRaw(s.text).Conn(Bind(db.Read, args...)).Scan(ctx, dest)
	}
	return db.query(ctx, dest, s.text, &s.reader, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
}

// kept is a statement that is kept. Connections prepare its text by themselves.
type kept struct {
	text   string
	reader atomic.Pointer[rowReader] // on PostgreSQL, once rows were read
}

// keep keeps a statement under a name, unless too many others are kept.
func (db *DB) keep(name, text string) *kept {
	s, most := &kept{text: text}, int64(maxTexts)
	if db.Engine == SQLite {
		most = maxTextsSQLite
	}
	if db.kept.Add(1) > most {
		return s
	}
	first, _ := db.texts.LoadOrStore(name, s)
	return first.(*kept)
}

// placeholder returns how a text refers to the argument of a number. Of itself, SQLite would number
// $1 and $2 by where they are first; its driver goes by the names.
func placeholder(n int) bun.Safe { return bun.Safe("$" + strconv.Itoa(n)) }

// Bind returns a connection that runs a query in a transaction with arguments, which the text of
// the query refers to as $1, $2 and so on. The statement is prepared as in [DB.ForIDs]; all else in
// its text should be the same each time.
func Bind(tx bun.IDB, args ...any) bun.IConn {
	engine, conn := SQLite, bun.IConn(tx)
	if tx.Dialect().Name() == dialect.PG {
		engine = Postgres
	}
	// As a connection, Bun's own would call the hooks a second time.
	switch tx := tx.(type) {
	case bun.Tx:
		conn = tx.Tx
	case *bun.DB:
		conn = tx.DB
	}
	return newBound(engine, conn, args)
}

// bound is a connection that runs a query with arguments, which Bun does not have: it writes values
// into the text. The statement stays prepared.
type bound struct {
	conn bun.IConn
	args []any
}

func newBound(engine Engine, conn bun.IConn, args []any) bound {
	if engine == Postgres {
		return bound{conn, append([]any{pgx.QueryExecModeCacheStatement}, args...)}
	}
	for i, arg := range args {
		switch at := arg.(type) {
		case time.Time:
			args[i] = SQLiteTime(at)
		case *time.Time:
			if at != nil {
				args[i] = SQLiteTime(*at)
			}
		}
	}
	return bound{conn, args}
}

// SQLiteTime returns a time as Bun writes it into statements of SQLite, which compares times as
// texts. The driver has another form.
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
