// Package database opens the database, SQLite or PostgreSQL, limits how many statements and
// transactions each caller runs concurrently, classifies errors of the database, and reads pages of
// lists. A [Dialect] holds all that differs between the engines. The package does not depend on any
// table.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database/concurrency"
	"github.com/meshyard/meshyard/internal/outage"
)

// DB is the database, with a connection pool that writes and one that only reads.
//
// On PostgreSQL they are the same pool. SQLite allows one writer at a time, and transactions of the
// write pool take the write lock when they begin. So the write pool has one connection, and the
// connections of the read pool are read-only: they never hold that lock.
type DB struct {
	Dialect
	Engine Engine // the name of the dialect
	Write  *bun.DB
	Read   *bun.DB
	file   string // the SQLite database
	opened *openFile

	statements statements
	texts      *lru.Cache[any, *preparedText] // the statements that are prepared, by Key

	reads        queryLimiter
	transactions *concurrency.Limiter

	replica *replica // nil: none
}

// Open opens the database at address, sqlite:PATH or postgres://…, and checks that it is available.
func Open(ctx context.Context, address string) (*DB, error) {
	d := DialectOfURL(address)
	db := &DB{Dialect: d, Engine: d.Engine(), statements: statements{dialect: d}, texts: newTexts(d.maxTexts())}
	if err := d.open(db, address, observerOf(ctx)); errors.Is(err, errAddress) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := db.Ready(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", db.explain(err)), db.Close())
	}
	if db.opened != nil {
		db.opened.remember()
	}
	if err := db.checkServer(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), db.Close())
	}
	return db, nil
}

// CheckURL returns an error if Open would reject address. It does not connect.
func CheckURL(address string) error {
	if _, ok := File(address); ok {
		return nil
	}
	config, err := pgx.ParseConfig(address)
	if err == nil {
		_, err = takePoolMode(config)
	}
	return err
}

// LimitConnections sets the largest number of connections to PostgreSQL, at least 4: one caller may
// use a fourth of them at a time. It must be called before the first statement. It does nothing on
// SQLite.
func (db *DB) LimitConnections(n int) { db.limitConnections(db, n) }

// Register prepares Bun for row types, each given as a nil pointer to a struct. Otherwise Bun
// prepares a type at its first use, and modifies it while other goroutines may read it as the type
// of a nested struct.
func (db *DB) Register(types ...any) {
	db.Read.RegisterModel(types...)
	db.Write.RegisterModel(types...)
}

// SQL returns the write pool, for code that runs SQL without Bun, such as the job queue.
func (db *DB) SQL() *sql.DB { return db.Write.DB }

// Ready returns an error if the database is not available, or if the file of a SQLite database was
// deleted or replaced.
func (db *DB) Ready(ctx context.Context) error {
	if err := db.CheckFile(); err != nil {
		return err
	}
	// The write pool comes first: on SQLite it creates the file that the read pool opens.
	if err := db.Write.PingContext(ctx); err != nil {
		return err
	}
	return db.Read.PingContext(ctx)
}

// Free returns how many bytes the disk of a SQLite database has left, and false for PostgreSQL.
func (db *DB) Free() (bytes uint64, ok bool) {
	if !db.isFile() {
		return 0, false
	}
	return outage.Available(filepath.Dir(db.file))
}

// CheckDisk returns an error if the disk of a SQLite database is read-only or nearly full. It does
// not check the disk of PostgreSQL.
func (db *DB) CheckDisk() error {
	if !db.isFile() {
		return nil
	}
	return outage.CheckDisk(filepath.Dir(db.file))
}

// Close closes both pools.
func (db *DB) Close() error {
	err := db.Write.Close()
	if db.Read.DB != db.Write.DB { // PostgreSQL has one pool
		err = errors.Join(err, db.Read.Close())
	}
	if db.replica != nil {
		err = errors.Join(err, db.replica.pool.Close())
	}
	return err
}

// MaxTx is the maximum duration of InTx, including the time spent waiting for locks and in retries.
const MaxTx = time.Minute

// InTx runs fn in a transaction. If PostgreSQL aborts the transaction because of a deadlock or a
// serialization failure, fn runs again in a new one, as in [RetryConflicts]. InTx returns the error
// of ctx if ctx ends before the transaction begins. From then on it ignores the cancellation of
// ctx: if a COMMIT were canceled while it runs, it would be unknown whether the transaction was
// committed.
func (db *DB) InTx(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if account := auth.Account(ctx); account != "" {
		if err := db.transactions.Acquire(ctx, account); err != nil {
			return err
		}
		defer db.transactions.Release(account)
	}
	within, cancel := context.WithTimeout(context.WithValue(context.WithoutCancel(ctx), inTxKey{}, true), MaxTx)
	defer cancel()
	err := RetryConflicts(func() error { return db.Write.RunInTx(within, nil, fn) })
	if err == nil {
		db.wrote(ctx)
	}
	return err
}

// InLongTx runs fn in a transaction like InTx, for maintenance of whole tables. It has no time
// limit and no limit per caller, and is rolled back when ctx ends.
func (db *DB) InLongTx(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	return RetryConflicts(func() error { return db.Write.RunInTx(ctx, nil, fn) })
}
