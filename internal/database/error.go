package database

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// RetryOnDeadlock runs fn, which runs a transaction or a single statement. If PostgreSQL aborts it
// to resolve a deadlock, RetryOnDeadlock runs fn again after a random pause, up to 10 times in
// total, and returns the last error. The pause lets the other transactions end.
//
// Deadlocks are rare, because all transactions lock rows in the same order: things, makes,
// comments, files. The locks on tags, and those that PostgreSQL takes to check foreign keys, have
// no fixed order.
func RetryOnDeadlock(fn func() error) error {
	for attempt := 1; ; attempt++ {
		if err := fn(); err == nil || attempt == 10 || !isDeadlock(err) {
			return err
		}
		time.Sleep(rand.N(time.Duration(attempt*20) * time.Millisecond))
	}
}

// IsForeignKey reports whether a statement failed because a row that it refers to does not exist,
// or because another row refers to a row that it deletes.
func IsForeignKey(err error) bool {
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return lite.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
	}
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23503"
}

// IsUnique reports whether a statement failed because a unique value exists already.
func IsUnique(err error) bool {
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || lite.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505"
}

// isDeadlock reports whether PostgreSQL ended a transaction to resolve a deadlock.
func isDeadlock(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "40P01"
}
