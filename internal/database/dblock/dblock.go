// Package dblock lets an operation have a database for itself, such as restoring it, and remembers
// an operation that was interrupted.
//
// Every process that uses a catalogue holds the lock of its database for its whole time. Servers
// and most commands share it; a restore and an import into an empty database hold it exclusively.
// The lock is a file beside a SQLite database, and an advisory lock of a session on PostgreSQL, or
// of a transaction behind a connection pooler. They end with the process, so a lock is never stale.
//
// An exclusive operation stores a marker before it changes anything, and removes it when it is
// complete. Until then, nothing else uses the database.
package dblock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/filesystem/lockfile"
)

// Mode says who else can hold the lock at the same time.
type Mode bool

// The modes.
const (
	Shared    Mode = false
	Exclusive Mode = true
)

// Lock is a held lock.
type Lock struct {
	mode    Mode
	by      string
	address string

	path string         // of a SQLite database
	file *lockfile.Lock // nil if the folder of the database cannot be written

	conn *pgx.Conn // on PostgreSQL; closed when the lock was lost
	// pooled says that a connection pooler is between. Then the lock ends with a transaction of conn,
	// because the pooler may give the session to others; see session.
	pooled bool
}

// Acquire acquires the lock of the database at address. by is the command that does so, for the
// message of others. If another process excludes this one, the error names that process. It returns
// nil for an address that [database.Open] rejects.
func Acquire(ctx context.Context, address string, mode Mode, by string) (*Lock, error) {
	l := &Lock{mode: mode, by: by, address: address}
	if path, ok := database.File(address); ok {
		l.path = path
		return l, l.lockFile()
	}
	if database.IsPostgresURL(address) {
		return l, l.lockSession(ctx)
	}
	return nil, nil
}

// lockFile locks the file beside a SQLite database.
func (l *Lock) lockFile() error {
	var err error
	l.file, err = lockfile.Use(l.path+".lock", bool(l.mode), l.by)
	// SQLite cannot write to the database either, and says why.
	readOnly := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	if err == nil || readOnly && l.mode == Shared {
		return nil
	}
	if held, ok := errors.AsType[*lockfile.InUseError](err); ok {
		return inUse(l.path, held.By)
	}
	return fmt.Errorf("lock the database: %w", err)
}

// ErrInUse matches the error of a lock that another process holds.
var ErrInUse = errors.New("wait until it has finished, or stop it")

// inUse returns the error for a database that another process uses. by may be empty.
func inUse(database, by string) error {
	if by == "" {
		by = "another process of meshyard"
	}
	return fmt.Errorf("the database %s is in use by %s: %w", database, by, ErrInUse)
}

// Check returns an error if the lock was lost and cannot be acquired again. On PostgreSQL, a lock
// is lost with its connection, such as in a restart of the database server. An error that matches
// [ErrInUse] means that another process has the database for itself by now.
func (l *Lock) Check(ctx context.Context) error {
	if l == nil || l.conn == nil {
		return nil
	}
	if l.conn.Ping(ctx) == nil {
		return nil
	}
	_ = l.conn.Close(ctx)
	return l.lockSession(ctx)
}

// Close releases the lock.
func (l *Lock) Close() error {
	switch {
	case l == nil:
		return nil
	case l.conn != nil:
		return l.conn.Close(context.Background())
	case l.file != nil:
		return l.file.Release()
	}
	return nil
}
