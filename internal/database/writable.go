package database

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// CheckWritable returns an error that names what this process may not write if a SQLite database
// cannot be changed. On PostgreSQL it checks nothing.
func (db *DB) CheckWritable() error {
	if !db.isFile() {
		return nil
	}
	if info, err := os.Stat(db.file); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder, not a file", db.file)
	}
	// SQLite keeps two files beside the database, and creates and removes them.
	for _, name := range []string{filepath.Dir(db.file), db.file, db.file + "-wal", db.file + "-shm"} {
		switch err := checkAccess(name); {
		case errors.Is(err, fs.ErrPermission):
			return fmt.Errorf("SQLite cannot write %s: %w for the user with the ID %d: run meshyard as the owner, or change the owner or the permissions", name, err, os.Getuid())
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("SQLite cannot write %s: %w", name, err)
		}
	}
	return nil
}

// readOnly is the code of the error of PostgreSQL for a change of a database that is read-only.
const readOnly = "25006"

// Explain adds the likely cause, and what to do, to the error of a PostgreSQL that is read-only or
// of a SQLite database that another process has locked for busySeconds.
func Explain(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == readOnly {
		return fmt.Errorf("PostgreSQL is read-only: --database-url must name the primary server instead of a standby, and default_transaction_read_only must be off (%w)", err)
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok && lite.Code()&0xff == sqlite3.SQLITE_BUSY {
		return fmt.Errorf("another process has locked the SQLite database for %d seconds: try again when it has finished (%w)", busySeconds, err)
	}
	return err
}

// explain adds the result of CheckWritable or CheckDisk to an error of SQLite that does not name
// the file or the cause.
func (db *DB) explain(err error) error {
	lite, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	var cause error
	switch lite.Code() & 0xff { // the primary result code
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		cause = db.CheckWritable()
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		cause = db.CheckDisk()
	}
	if cause != nil {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}
