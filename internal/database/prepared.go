package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
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
	among, args := bun.Safe("= ANY($1)"), []any{ids}
	if db.Engine == SQLite {
		list, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		among, args = "IN (SELECT value FROM json_each(?1))", []any{string(list)}
	}
	for _, n := range also {
		args = append(args, n)
	}
	return db.prepared(ctx, name, func() (string, error) { return query(among, db.Engine.placeholder(2)).String(), nil }, dest, args...)
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
			placeholders[i] = db.Engine.placeholder(i + 1)
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
		if s, err = db.keep(ctx, name, text); err != nil {
			return err
		}
	}
	if db.Engine == SQLite {
		// On the pool: as a connection, db.Read would call the hooks a second time.
		return db.Read.NewRaw(s.text).Conn(bound{db.Read.DB, s.stmt, args}).Scan(ctx, dest)
	}
	return db.query(ctx, dest, s.text, &s.reader, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
}

// kept is a statement that is kept. pgx prepares its text by itself.
type kept struct {
	text   string
	stmt   *sql.Stmt                 // on SQLite, unless too many others are kept
	reader atomic.Pointer[rowReader] // on PostgreSQL, once rows were read
}

// keep keeps a statement under a name, unless too many others are kept.
func (db *DB) keep(ctx context.Context, name, text string) (*kept, error) {
	s, most := &kept{text: text}, int64(maxTexts)
	if db.Engine == SQLite {
		most = maxTextsSQLite
	}
	if db.kept.Add(1) > most {
		return s, nil
	}
	if db.Engine == SQLite {
		var err error
		if s.stmt, err = db.Read.DB.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
	}
	if first, loaded := db.texts.LoadOrStore(name, s); loaded {
		if s.stmt != nil {
			_ = s.stmt.Close() // the other is as good
		}
		return first.(*kept), nil
	}
	return s, nil
}

// placeholder returns how an engine writes the argument of a number.
func (e Engine) placeholder(n int) bun.Safe {
	if e == SQLite {
		return bun.Safe("?" + strconv.Itoa(n))
	}
	return bun.Safe("$" + strconv.Itoa(n))
}

// bound is a connection that runs a query with arguments, which Bun does not have: it writes values
// into the text.
type bound struct {
	bun.IConn
	stmt *sql.Stmt // instead of the text, if it is not nil
	args []any
}

// QueryContext implements [bun.IConn].
func (b bound) QueryContext(ctx context.Context, text string, _ ...any) (*sql.Rows, error) {
	if b.stmt != nil {
		return b.stmt.QueryContext(ctx, b.args...)
	}
	return b.IConn.QueryContext(ctx, text, b.args...)
}
