package database

import (
	"context"
	"database/sql/driver"
)

// This file keeps statements prepared on connections of SQLite, as pgx does on those of PostgreSQL.
// The prepared statements of database/sql cannot: one that is made for the pool would wait for the
// connection that its own transaction holds, and one that is made in the transaction ends with it.

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

// sqliteConn is what a connection of the driver implements for database/sql.
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

// sqliteStmt is what a statement of the driver implements for database/sql.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// keepingConn is a connection that keeps prepared statements. Like all connections, it is used by
// one goroutine at a time.
type keepingConn struct {
	sqliteConn
	idle map[string]sqliteStmt // by text; those that run are not among them
}

// ExecContext implements [driver.ExecerContext]. After ErrSkip, database/sql calls PrepareContext,
// and closes the statement when it has ended.
func (c *keepingConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if keeps(ctx) {
		return nil, driver.ErrSkip
	}
	return c.sqliteConn.ExecContext(ctx, text, args)
}

// QueryContext implements [driver.QueryerContext] as ExecContext does. The statement is closed when
// its rows are.
func (c *keepingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if keeps(ctx) {
		return nil, driver.ErrSkip
	}
	return c.sqliteConn.QueryContext(ctx, text, args)
}

// PrepareContext implements [driver.ConnPrepareContext].
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
		_ = s.Close() // returns the error of its last run
	}
	c.idle = nil
	return c.sqliteConn.Close()
}

// keptStmt is a statement that stays prepared when it is closed.
type keptStmt struct {
	sqliteStmt
	conn *keepingConn
	text string
}

// Close implements [driver.Stmt].
func (s *keptStmt) Close() error {
	if _, other := s.conn.idle[s.text]; other || s.conn.idle == nil || len(s.conn.idle) >= maxTextsSQLite {
		return s.sqliteStmt.Close()
	}
	s.conn.idle[s.text] = s.sqliteStmt
	return nil
}
