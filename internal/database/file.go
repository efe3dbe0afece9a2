package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/meshyard/meshyard/internal/outage"
)

// openFile is the file of a SQLite database as it was when it was opened. SQLite would go on with a
// file that was deleted or replaced, and everything that is written to it would be lost.
type openFile struct {
	path string
	info atomic.Pointer[os.FileInfo] // nil until the database is open
}

// remember stores which file the path names now.
func (f *openFile) remember() {
	if info, err := os.Stat(f.path); err == nil {
		f.info.Store(&info)
	}
}

// check returns an error that matches [outage.ErrReplaced] if the path names another file, or none.
func (f *openFile) check() error {
	if f == nil {
		return nil
	}
	opened := f.info.Load()
	if opened == nil {
		return nil
	}
	now, err := os.Stat(f.path)
	if err == nil && os.SameFile(*opened, now) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%s: %w", f.path, outage.ErrReplaced)
}

// CheckFile returns an error if the file of a SQLite database was deleted or replaced since it was
// opened. Transactions and statements of the write pool fail then, too.
func (db *DB) CheckFile() error { return db.opened.check() }

// fileConnector opens connections that write nothing to a file that was deleted or replaced.
type fileConnector struct {
	driver.Connector
	file *openFile
}

// Connect implements [driver.Connector].
func (c fileConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := c.file.check(); err != nil {
		return nil, err
	}
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &fileConn{conn.(sqliteConn), c.file}, nil
}

// fileConn is a connection of the write pool.
type fileConn struct {
	sqliteConn
	file *openFile
}

// BeginTx implements [driver.ConnBeginTx].
func (c *fileConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.file.check(); err != nil {
		return nil, err
	}
	return c.sqliteConn.BeginTx(ctx, opts)
}

// ExecContext implements [driver.ExecerContext].
func (c *fileConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.file.check(); err != nil {
		return nil, err
	}
	return c.sqliteConn.ExecContext(ctx, text, args)
}

// QueryContext implements [driver.QueryerContext]. Statements with RETURNING are queries.
func (c *fileConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.file.check(); err != nil {
		return nil, err
	}
	return c.sqliteConn.QueryContext(ctx, text, args)
}
