package database

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"runtime"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"modernc.org/sqlite"
)

// busySeconds is how long a SQLite connection waits for a lock.
const busySeconds = 10

var busyTimeout = fmt.Sprintf("busy_timeout(%d)", busySeconds*1000)

func (sqliteDialect) open(db *DB, address string, observe observer) error {
	path, _ := File(address)
	// synchronous(FULL): a committed transaction is on the disk, so a confirmed upload is not lost if
	// the power fails immediately after the response.
	both := "_pragma=" + busyTimeout + "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)"
	file := "file:" + (&url.URL{Path: path}).EscapedPath()
	writer, err := sqlite.NewConnector(file + "?" + both + "&_txlock=immediate")
	if err != nil {
		return err
	}
	reader, err := sqlite.NewConnector(file + "?" + both + "&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	createPrivate(path)
	db.opened = &openFile{path: path}
	write, read := sql.OpenDB(keepingConnector{fileConnector{observe.connector(writer), db.opened}}),
		sql.OpenDB(keepingConnector{observe.connector(reader)})
	write.SetMaxOpenConns(1)
	readers := max(4, runtime.NumCPU())
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	db.limit(readers, 1, Concurrency{Statements: readers / 2, Transactions: 1})
	db.file = path
	db.Write = bun.NewDB(write, sqlitedialect.New()).WithQueryHook(&db.statements)
	db.Read = bun.NewDB(read, sqlitedialect.New()).WithQueryHook(&db.statements).WithQueryHook(db.reads)
	return nil
}

// createPrivate creates an empty file, which is a valid database, so that other users of the system
// cannot read it. SQLite would create a file that all can read, and gives the files that it keeps
// beside the database the permissions of the database. If it fails, SQLite reports the cause.
func createPrivate(path string) {
	if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = f.Close()
	}
}
