package database

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// TruncateLog moves the write-ahead log of a SQLite database into the database file and empties it,
// if it has more than limit bytes. SQLite itself begins the log again only after a commit during
// which no reader uses the log. While readers always overlap, it grows, and it stays as long as it
// was. Writers wait meanwhile. Readers that do not end within a fifth of a second prevent the
// truncation; this is no error.
func (db *DB) TruncateLog(ctx context.Context, limit int64) error {
	if db.Engine != SQLite {
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
	for _, statement := range []string{"PRAGMA busy_timeout = 200", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA " + busyTimeout} {
		_, failed := conn.ExecContext(ctx, statement)
		err = errors.Join(err, failed)
	}
	return err
}
