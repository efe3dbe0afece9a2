package database

import (
	"context"
	"database/sql/driver"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// This file implements a cache of prepared statements on each SQLite connection, as pgx has on each
// PostgreSQL connection. The prepared statements of database/sql cannot replace it. Within a
// transaction, preparing a statement on the pool would wait for the connection that the transaction
// holds. A statement that is prepared on the transaction is closed when the transaction ends.

type keepKey struct{}

// keepPrepared returns a context for a statement that stays prepared on its connection.
func keepPrepared(ctx context.Context) context.Context {
	return context.WithValue(ctx, keepKey{}, true)
}

func keeps(ctx context.Context) bool { return ctx.Value(keepKey{}) != nil }

// keepingConnector opens connections that keep prepared statements.
type keepingConnector struct{ driver.Connector }

// Connect implements [driver.Connector].
func (k keepingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := simplelru.NewLRU(maxTextsSQLite, func(_ string, s *keptStmt) { s.evict() })
	return &keepingConn{conn.(sqliteConn), kept}, err
}

// sqliteConn has the interfaces of database/sql that a connection of the driver implements.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// sqliteStmt has the interfaces of database/sql that a statement of the driver implements.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// keepingConn is a connection that keeps prepared statements. Like all connections, it is used by
// one goroutine at a time.
type keepingConn struct {
	sqliteConn
	kept *simplelru.LRU[string, *keptStmt] // the statements used last, by text
}

// ExecContext implements [driver.ExecerContext]. For a statement that stays prepared it returns
// ErrSkip. Then database/sql calls PrepareContext, and closes the statement after its execution.
func (c *keepingConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if keeps(ctx) {
		return nil, driver.ErrSkip
	}
	return c.sqliteConn.ExecContext(ctx, text, args)
}

// QueryContext implements [driver.QueryerContext] in the same way as ExecContext. The statement is
// closed together with its rows.
func (c *keepingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if keeps(ctx) {
		return nil, driver.ErrSkip
	}
	return c.sqliteConn.QueryContext(ctx, text, args)
}

// PrepareContext implements [driver.ConnPrepareContext]. For a statement that stays prepared it
// returns the one with the same text, if there is one that does not run.
func (c *keepingConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if !keeps(ctx) {
		return c.sqliteConn.PrepareContext(ctx, text)
	}
	s, ok := c.kept.Get(text)
	if ok && s.runs {
		return c.sqliteConn.PrepareContext(ctx, text)
	}
	if !ok {
		prepared, err := c.sqliteConn.PrepareContext(ctx, text)
		if err != nil {
			return nil, err
		}
		s = &keptStmt{sqliteStmt: prepared.(sqliteStmt)}
		c.kept.Add(text, s)
	}
	s.runs = true
	return s, nil
}

// Close implements [driver.Conn].
func (c *keepingConn) Close() error {
	c.kept.Purge()
	return c.sqliteConn.Close()
}

// keptStmt is a statement that stays prepared when it is closed, until it is evicted.
type keptStmt struct {
	sqliteStmt
	runs    bool // from PrepareContext to Close
	evicted bool
}

// Close implements [driver.Stmt].
func (s *keptStmt) Close() error {
	s.runs = false
	if s.evicted {
		return s.sqliteStmt.Close()
	}
	return nil
}

// evict closes the statement, or lets Close do so if it runs.
func (s *keptStmt) evict() {
	s.evicted = true
	if !s.runs {
		_ = s.sqliteStmt.Close() // the error is that of its last execution
	}
}
