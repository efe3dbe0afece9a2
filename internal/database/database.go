// Package database opens the database, SQLite or PostgreSQL, limits what each caller does in it at
// once, classifies its errors, and reads pages of lists. It knows no table.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"
	"modernc.org/sqlite"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/concurrency"
	"github.com/meshyard/meshyard/internal/outage"
)

// Engine is the database a DB talks to.
type Engine string

// The two engines. Everything but the places that ask for the engine by name runs the same on both.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// DB is the database: one pool that writes, and one that only reads.
//
// On PostgreSQL they are the same pool. SQLite has a single writer, and its transactions take the
// write lock at once, so writes go through one connection and reads through a few others that can
// never hold that lock.
type DB struct {
	Engine Engine
	Write  *bun.DB
	Read   *bun.DB
	folder string // that holds the database of SQLite

	statements statements
	texts      sync.Map     // statements that are prepared, by name: *kept; see ForIDs
	kept       atomic.Int64 // how many, or more than are allowed

	reads        turns
	transactions *concurrency.Limiter
}

// Open opens the database at address, sqlite:PATH or postgres://…, and checks that it answers.
func Open(ctx context.Context, address string) (*DB, error) {
	db := new(DB)
	var err error
	switch scheme, path, _ := strings.Cut(address, ":"); scheme {
	case "sqlite":
		err = db.openSQLite(path)
	case "postgres", "postgresql":
		err = db.openPostgres(address)
	default:
		return nil, fmt.Errorf("database URL %q: must be sqlite:PATH or postgres://…", scheme+":…")
	}
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := db.Ready(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), db.Close())
	}
	return db, nil
}

func (db *DB) openPostgres(address string) error {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return err
	}
	// Bun writes values into the statement, so preparing it would only fill the server's memory
	// with texts.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.RuntimeParams["timezone"] = "UTC"
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "meshyard"
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	config.DialFunc = outage.Dial(config.DialFunc)
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		// Else PostgreSQL plans even prepared statements again each time, because a plan for the few
		// ids of one batch looks cheaper than one for any; planning takes longer than running. Not
		// a parameter of the connection: poolers refuse those. Compiling a statement to machine
		// code pays for reports; here it takes seconds where the statement takes milliseconds. And a
		// search of a common word took twice as long with two parallel workers as without.
		_, err := conn.Exec(ctx, "SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0")
		return err
	}))
	conns := max(16, 4*runtime.NumCPU())
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	db.limit(conns, conns, Concurrency{Statements: conns / 4, Transactions: conns / 4})
	db.statements.engine = Postgres
	db.Engine, db.Write = Postgres, bun.NewDB(pool, pgdialect.New()).WithQueryHook(&db.statements)
	db.Read = db.Write.WithQueryHook(db.reads)
	return nil
}

func (db *DB) openSQLite(path string) error {
	// synchronous(FULL): an upload that was answered is on the disk even when the power fails right
	// after.
	const both = "_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)"
	file := "file:" + (&url.URL{Path: path}).EscapedPath()
	writer, err := sqlite.NewConnector(file + "?" + both + "&_txlock=immediate")
	if err != nil {
		return err
	}
	reader, err := sqlite.NewConnector(file + "?" + both + "&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	write, read := sql.OpenDB(keepingConnector{writer}), sql.OpenDB(keepingConnector{reader})
	write.SetMaxOpenConns(1)
	readers := max(4, runtime.NumCPU())
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	db.limit(readers, 1, Concurrency{Statements: readers / 2, Transactions: 1})
	db.statements.engine = SQLite
	db.Engine, db.folder = SQLite, filepath.Dir(path)
	db.Write = bun.NewDB(write, sqlitedialect.New()).WithQueryHook(&db.statements)
	db.Read = bun.NewDB(read, sqlitedialect.New()).WithQueryHook(&db.statements).WithQueryHook(db.reads)
	return nil
}

// SQL is the pool that writes, for what brings its own statements.
func (db *DB) SQL() *sql.DB { return db.Write.DB }

// Ready reports whether the database answers.
func (db *DB) Ready(ctx context.Context) error {
	// The writer first: on SQLite it makes the file that the readers open.
	if err := db.Write.PingContext(ctx); err != nil {
		return err
	}
	return db.Read.PingContext(ctx)
}

// CheckSpace returns an error if the disk of a SQLite database is nearly full. PostgreSQL does not
// report its free space.
func (db *DB) CheckSpace() error {
	if db.Engine != SQLite {
		return nil
	}
	return outage.CheckSpace(db.folder)
}

// Close closes both pools.
func (db *DB) Close() error {
	err := db.Write.Close()
	if db.Engine == SQLite { // PostgreSQL has one pool
		err = errors.Join(err, db.Read.Close())
	}
	return err
}

// MaxTx bounds a transaction, lock waits included.
const MaxTx = time.Minute

// InTx runs fn in a transaction of its own, and again, a few times, where PostgreSQL had to
// sacrifice it to a deadlock. Once begun it does not end with the request: a COMMIT that is
// cancelled under way may have happened all the same, and nobody would know.
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), MaxTx)
	defer cancel()
	return UnlessDeadlocked(func() error { return db.Write.RunInTx(ctx, nil, fn) })
}

// InLongTx runs fn in a transaction like InTx, for maintenance of whole tables: it takes as long as
// they need, and is rolled back when ctx ends.
func (db *DB) InLongTx(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	return UnlessDeadlocked(func() error { return db.Write.RunInTx(ctx, nil, fn) })
}

// OneOf returns the condition that a column is one of the values that q selects. PostgreSQL may run
// "IN (q)" once for each row of the table, if its statistics are from before a burst: folding
// 13,000 downloads took 8 s. It selects an array once.
func (db *DB) OneOf(q *bun.SelectQuery) schema.QueryAppender {
	if db.Engine == Postgres {
		return bun.SafeQuery("= ANY(ARRAY(?))", q)
	}
	return bun.SafeQuery("IN (?)", q)
}

// ForUpdate locks the rows of q until the transaction ends. SQLite has no row locks, and needs
// none: a transaction that writes is alone from its first statement on.
func (db *DB) ForUpdate(q *bun.SelectQuery) *bun.SelectQuery {
	if db.Engine == Postgres {
		return q.For("UPDATE")
	}
	return q
}

// ForShare keeps the rows of q from being deleted until the transaction ends.
func (db *DB) ForShare(q *bun.SelectQuery) *bun.SelectQuery {
	if db.Engine == Postgres {
		return q.For("KEY SHARE")
	}
	return q
}
