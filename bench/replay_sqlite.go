package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"runtime"
	"strings"

	lite "modernc.org/sqlite"
)

// maxPrepared is the number of statements that a connection keeps. It is more than a row of the
// table has.
const maxPrepared = 1000

// replaySQLite has connections that read and one that writes, as the server has.
type replaySQLite struct{ readers, writer chan *liteConn }

// liteConn is a connection with the statements that it has prepared, by text.
type liteConn struct {
	driver.Conn
	prepared map[string]driver.Stmt
	back     chan *liteConn
}

func openReplaySQLite(ctx context.Context, path string) (executor, error) {
	open := func(n int, options string) (chan *liteConn, error) {
		connector, err := lite.NewConnector("file:" + path +
			"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)" + options)
		if err != nil {
			return nil, err
		}
		conns := make(chan *liteConn, n)
		for range n {
			conn, err := connector.Connect(ctx)
			if err != nil {
				return nil, err
			}
			conns <- &liteConn{conn, make(map[string]driver.Stmt), conns}
		}
		return conns, nil
	}
	writer, err := open(1, "")
	if err != nil {
		return nil, err
	}
	readers, err := open(max(4, runtime.NumCPU()), "&_pragma=query_only(1)")
	return replaySQLite{readers, writer}, err
}

// changes reports whether a statement changes rows.
func changes(text string) bool {
	verb, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(text)), " ")
	return verb == "INSERT" || verb == "UPDATE" || verb == "DELETE" || verb == "WITH" &&
		strings.Contains(text, "RETURNING")
}

func (q replaySQLite) run(ctx context.Context, s *statement) error {
	from := q.readers
	if changes(s.Text) {
		from = q.writer
	}
	conn := <-from
	defer func() { from <- conn }()
	return conn.run(ctx, s)
}

func (q replaySQLite) begin(ctx context.Context) (transaction, error) {
	conn := <-q.writer
	return conn, errors.Join(conn.run(ctx, &statement{Text: "BEGIN IMMEDIATE"}),
		conn.run(ctx, &statement{Text: "SAVEPOINT before"}))
}

// end undoes and commits the transaction. The pragma writes the first page, so that there is
// something to commit.
func (c *liteConn) end(ctx context.Context) (err error) {
	for _, text := range []string{"ROLLBACK TO before", "PRAGMA user_version = 1", "COMMIT"} {
		err = errors.Join(err, c.run(ctx, &statement{Text: text}))
	}
	c.back <- c
	return err
}

func (c *liteConn) run(ctx context.Context, s *statement) error {
	prepared := c.prepared[s.Text]
	if prepared == nil {
		if len(c.prepared) == maxPrepared {
			for text, old := range c.prepared {
				_ = old.Close() // the error is that of its last execution
				delete(c.prepared, text)
			}
		}
		var err error
		if prepared, err = c.Prepare(s.Text); err != nil {
			return err
		}
		c.prepared[s.Text] = prepared
	}
	args := make([]driver.NamedValue, len(s.Args))
	for i, arg := range s.Args {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	if changes(s.Text) && !strings.Contains(s.Text, "RETURNING") {
		_, err := prepared.(driver.StmtExecContext).ExecContext(ctx, args)
		return err
	}
	rows, err := prepared.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		err = rows.Next(values)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}
