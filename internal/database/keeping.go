package database

import (
	"context"
	"database/sql/driver"
)

// This file implements a cache of prepared statements on each SQLite connection, as pgx has on each
// PostgreSQL connection. The prepared statements of database/sql cannot replace it: preparing one
// for the pool in a transaction would wait for the connection that this transaction holds, and one
// that is prepared in a transaction is closed when it ends.

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
	return &keepingConn{conn.(sqliteConn), make(map[string]sqliteStmt)}, nil
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
	idle map[string]sqliteStmt // by text, without running statements
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
// returns an idle one with the same text, if there is one.
func (c *keepingConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if !keeps(ctx) {
		return c.sqliteConn.PrepareContext(ctx, text)
	}
	if s, ok := c.idle[text]; ok {
		delete(c.idle, text)
		return &keptStmt{s, c, text}, nil
	}
	s, err := c.sqliteConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return &keptStmt{s.(sqliteStmt), c, text}, nil
}

// Close implements [driver.Conn].
func (c *keepingConn) Close() error {
	for _, s := range c.idle {
		_ = s.Close() // the error is that of its last execution
	}
	c.idle = nil
	return c.sqliteConn.Close()
}

// keptStmt is a statement that is returned to its connection, still prepared, when it is closed.
type keptStmt struct {
	sqliteStmt
	conn *keepingConn
	text string
}

// Close implements [driver.Stmt]. It closes the statement only if the connection already has one
// with the same text, is closed, or has maxTextsSQLite others.
func (s *keptStmt) Close() error {
	if _, other := s.conn.idle[s.text]; other || s.conn.idle == nil || len(s.conn.idle) >= maxTextsSQLite {
		return s.sqliteStmt.Close()
	}
	s.conn.idle[s.text] = s.sqliteStmt
	return nil
}
