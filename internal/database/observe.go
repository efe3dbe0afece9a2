package database

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
)

// Sent is a statement that was sent to the database, including those that begin and end
// transactions.
type Sent struct {
	Text string
	Args []any
	Conn any // identifies the connection; SQLite has connections of its own for transactions
}

type observerKey struct{}

// WithObserver returns a context for [Open]. The opened database calls observe with each statement
// before it runs, concurrently for several connections. Benchmarks use it to repeat what the server
// sends. It observes the driver, because Bun does not know the arguments of a statement.
func WithObserver(ctx context.Context, observe func(Sent)) context.Context {
	return context.WithValue(ctx, observerKey{}, observer(observe))
}

// observer is called with each statement. It is nil if there is none.
type observer func(Sent)

func observerOf(ctx context.Context) observer {
	o, _ := ctx.Value(observerKey{}).(observer)
	return o
}

// tracer returns a tracer for connections to PostgreSQL, nil if there is no observer.
func (o observer) tracer() pgx.QueryTracer {
	if o == nil {
		return nil
	}
	return postgresObserver(o)
}

type postgresObserver observer

// TraceQueryStart implements [pgx.QueryTracer].
func (o postgresObserver) TraceQueryStart(ctx context.Context, conn *pgx.Conn,
	query pgx.TraceQueryStartData) context.Context {
	args := query.Args
	for len(args) > 0 {
		switch args[0].(type) {
		case pgx.QueryExecMode, pgx.QueryResultFormats, pgx.QueryResultFormatsByOID: // options of pgx
			args = args[1:]
			continue
		}
		break
	}
	o(Sent{query.SQL, args, conn})
	return ctx
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (o postgresObserver) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// connector returns c, or one that opens observed connections.
func (o observer) connector(c driver.Connector) driver.Connector {
	if o == nil {
		return c
	}
	return observedConnector{c, o}
}

type observedConnector struct {
	driver.Connector
	observe observer
}

// Connect implements [driver.Connector].
func (c observedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &observedConn{conn.(sqliteConn), c.observe}, nil
}

// observedConn is a connection to SQLite.
type observedConn struct {
	sqliteConn
	observe observer
}

func (c *observedConn) sent(text string, named []driver.NamedValue) {
	args := make([]any, len(named))
	for i, arg := range named {
		args[i] = arg.Value
	}
	c.observe(Sent{text, args, c})
}

// BeginTx implements [driver.ConnBeginTx].
func (c *observedConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	c.sent("begin", nil)
	tx, err := c.sqliteConn.BeginTx(ctx, options)
	return observedTx{tx, c}, err
}

// ExecContext implements [driver.ExecerContext].
func (c *observedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.sent(text, args)
	return c.sqliteConn.ExecContext(ctx, text, args)
}

// QueryContext implements [driver.QueryerContext].
func (c *observedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.sent(text, args)
	return c.sqliteConn.QueryContext(ctx, text, args)
}

// PrepareContext implements [driver.ConnPrepareContext].
func (c *observedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	prepared, err := c.sqliteConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return &observedStmt{prepared.(sqliteStmt), c, text}, nil
}

type observedStmt struct {
	sqliteStmt
	conn *observedConn
	text string
}

// ExecContext implements [driver.StmtExecContext].
func (s *observedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.conn.sent(s.text, args)
	return s.sqliteStmt.ExecContext(ctx, args)
}

// QueryContext implements [driver.StmtQueryContext].
func (s *observedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.conn.sent(s.text, args)
	return s.sqliteStmt.QueryContext(ctx, args)
}

type observedTx struct {
	driver.Tx
	conn *observedConn
}

// Commit implements [driver.Tx].
func (t observedTx) Commit() error {
	t.conn.sent("commit", nil)
	return t.Tx.Commit()
}

// Rollback implements [driver.Tx].
func (t observedTx) Rollback() error {
	t.conn.sent("rollback", nil)
	return t.Tx.Rollback()
}
