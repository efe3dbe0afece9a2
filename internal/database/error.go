package database

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// UnlessDeadlocked runs fn, and again, a few times, where PostgreSQL had to sacrifice it to a
// deadlock. Transactions lock things before makes, makes before comments and those before files, so
// it is rare; what is left are tags, and foreign keys, whose order is not ours. The pause lets the
// others end.
func UnlessDeadlocked(fn func() error) error {
	for attempt := 1; ; attempt++ {
		if err := fn(); err == nil || attempt == 10 || !IsDeadlock(err) {
			return err
		}
		time.Sleep(rand.N(time.Duration(attempt*20) * time.Millisecond))
	}
}

// IsForeignKey reports whether a statement failed because a row that it refers to does not exist,
// or because another row refers to a row that it deletes.
func IsForeignKey(err error) bool {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return lite.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
	}
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23503"
}

// IsUnique reports whether a statement failed because a unique value exists already.
func IsUnique(err error) bool {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || lite.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505"
}

// IsDeadlock reports whether PostgreSQL ended a transaction to resolve a deadlock.
func IsDeadlock(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "40P01"
}
