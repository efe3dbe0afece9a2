package database

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// attempts is how often RetryConflicts runs a function at most. The pauses between the attempts
// take less than a second in total.
const attempts = 10

// RetryConflicts runs fn, which runs a transaction or a single statement. If PostgreSQL aborts it
// because of a deadlock or a serialization failure, RetryConflicts runs fn again after a random
// pause, and returns the error of the last attempt. The pause lets the other transactions end.
//
// Deadlocks are rare, because all transactions lock rows in the same order: things, makes,
// comments, files. The locks on tags, and those that PostgreSQL takes to check foreign keys, have
// no fixed order. Serialization failures are rare too, because connections use READ COMMITTED.
func RetryConflicts(fn func() error) error {
	for attempt := 1; ; attempt++ {
		if err := fn(); err == nil || attempt == attempts || !isConflict(err) {
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

// isConflict reports whether PostgreSQL aborted a transaction that can succeed if it runs again: to
// resolve a deadlock, or because of a serialization failure.
func isConflict(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40P01" || pg.Code == "40001")
}
