package database

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// TruncateLog copies the write-ahead log of a SQLite database into the database file and truncates
// it to zero bytes, if it has more than limit bytes. By itself, SQLite reuses the log from its
// beginning only when no reader needs it, and does not make its file shorter. So the log grows as
// long as readers overlap. Writers wait during the truncation. Readers that do not end within 0.2
// seconds prevent it, which is not an error.
func (db *DB) TruncateLog(ctx context.Context, limit int64) error {
	if !db.isFile() {
		return nil
	}
	log, err := os.Stat(db.file + "-wal")
	if errors.Is(err, fs.ErrNotExist) || err == nil && log.Size() <= limit {
		return nil
	}
	if err != nil {
		return err
	}
	conn, err := db.Write.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx = context.WithoutCancel(ctx) // the timeout must be restored
	for _, statement := range []string{"PRAGMA busy_timeout = 200", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA " +
		busyTimeout} {
		_, failed := conn.ExecContext(ctx, statement)
		err = errors.Join(err, failed)
	}
	return err
}
