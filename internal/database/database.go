// Package database opens the database, SQLite or PostgreSQL, limits how many statements and
// transactions each caller runs concurrently, classifies errors of the database, and reads pages of
// lists. It does not depend on any table.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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

// Engine is the database system that a DB uses.
type Engine string

// The two engines. Code that does not compare Engine with one of them runs the same on both.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// DB is the database, with a connection pool that writes and one that only reads.
//
// On PostgreSQL they are the same pool. SQLite allows one writer at a time, and transactions of the
// write pool take the write lock when they begin. So the write pool has one connection, and the
// connections of the read pool are read-only: they never hold that lock.
type DB struct {
	Engine Engine
	Write  *bun.DB
	Read   *bun.DB
	file   string // the SQLite database
	opened *openFile

	statements statements
	texts      *lru.Cache[any, *kept] // the statements that are prepared, by Key

	reads        turns
	transactions *concurrency.Limiter
}

// Open opens the database at address, sqlite:PATH or postgres://…, and checks that it is available.
func Open(ctx context.Context, address string) (*DB, error) {
	db := new(DB)
	var err error
	switch scheme, path, _ := strings.Cut(address, ":"); scheme {
	case "sqlite":
		err = db.openSQLite(path, observerOf(ctx))
	case "postgres", "postgresql":
		err = db.openPostgres(address, observerOf(ctx))
	default:
		// The address may contain a password, as in host=… password=…, so it is not in the message.
		return nil, errors.New("database URL: must be sqlite:PATH or postgres://…")
	}
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db.texts = newTexts(db.Engine)
	if err := db.Ready(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", db.explain(err)), db.Close())
	}
	if db.opened != nil {
		db.opened.remember()
	}
	if err := db.checkEncoding(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), db.Close())
	}
	return db, nil
}

// checkEncoding returns an error if a PostgreSQL database has another encoding than UTF8. Such a
// database rejects some texts. With SQL_ASCII it does not check or convert them at all, so another
// client, or a restore to a database with a known encoding, can change them.
func (db *DB) checkEncoding(ctx context.Context) error {
	if db.Engine != Postgres {
		return nil
	}
	var encoding string
	if err := db.SQL().QueryRowContext(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return fmt.Errorf("look up the encoding: %w", err)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("the database has the encoding %s and must have UTF8: create another one, such as with createdb --template=template0 --encoding=UTF8 NAME", encoding)
	}
	return nil
}

// CheckURL returns an error if Open would reject address. It does not connect.
func CheckURL(address string) error {
	if strings.HasPrefix(address, "sqlite:") {
		return nil
	}
	_, err := pgx.ParseConfig(address)
	return err
}

func (db *DB) openPostgres(address string, observe observer) error {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return err
	}
	config.Tracer = observe.tracer()
	// Bun writes values into the text of a statement, so a text is rarely used twice. Preparing it
	// would only fill the memory of the database server.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	// The database or the role may have other values, such as standard_conforming_strings = off, with
	// which a backslash in a text would end the literal that Bun writes.
	for name, value := range map[string]string{
		"standard_conforming_strings": "on", "client_encoding": "UTF8", "datestyle": "ISO", "timezone": "UTC",
	} {
		config.RuntimeParams[name] = value
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "meshyard"
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	config.DialFunc = outage.Dial(config.DialFunc)
	onError := config.OnPgError
	config.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		// After a failover, a connection may still lead to the former primary, which became a standby.
		// The next connection may reach the new one, so this one is closed.
		return err.Code != readOnly && onError(conn, err)
	}
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		// plan_cache_mode: by default, PostgreSQL would plan even prepared statements each time they
		// run, because a plan for the few IDs of one batch looks cheaper than a generic plan. Planning
		// takes longer than running them. jit: compiling a statement to machine code is worthwhile for
		// reports, but here it takes seconds for statements that run for milliseconds.
		// max_parallel_workers_per_gather: a search for a common word took twice as long with two
		// parallel workers as without. bytea_output and extra_float_digits: pgx reads bytes in
		// hexadecimal, and floats need all digits. These are not parameters of the connection, because
		// connection poolers reject those.
		_, err := conn.Exec(ctx, "SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0; "+
			"SET bytea_output = hex; SET extra_float_digits = 1")
		return err
	}))
	pool.SetConnMaxIdleTime(5 * time.Minute)
	db.statements.engine = Postgres
	db.Engine, db.Write = Postgres, bun.NewDB(pool, pgdialect.New()).WithQueryHook(&db.statements)
	db.LimitConnections(min(max(16, 4*runtime.NumCPU()), 64))
	return nil
}

// LimitConnections sets the largest number of connections to PostgreSQL, at least 4: one caller may
// use a fourth of them at a time. It must be called before the first statement. It does nothing on
// SQLite.
func (db *DB) LimitConnections(n int) {
	if db.Engine != Postgres {
		return
	}
	db.Write.SetMaxOpenConns(n)
	db.Write.SetMaxIdleConns(n)
	db.limit(n, n, Concurrency{Statements: n / 4, Transactions: n / 4})
	db.Read = db.Write.WithQueryHook(db.reads)
}

// busySeconds is how long a SQLite connection waits for a lock.
const busySeconds = 10

var busyTimeout = fmt.Sprintf("busy_timeout(%d)", busySeconds*1000)

func (db *DB) openSQLite(path string, observe observer) error {
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
	write, read := sql.OpenDB(keepingConnector{fileConnector{observe.connector(writer), db.opened}}), sql.OpenDB(keepingConnector{observe.connector(reader)})
	write.SetMaxOpenConns(1)
	readers := max(4, runtime.NumCPU())
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	db.limit(readers, 1, Concurrency{Statements: readers / 2, Transactions: 1})
	db.statements.engine = SQLite
	db.Engine, db.file = SQLite, path
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
	if db.Engine != SQLite {
		return 0, false
	}
	return outage.Available(filepath.Dir(db.file))
}

// CheckDisk returns an error if the disk of a SQLite database is read-only or nearly full. It does
// not check the disk of PostgreSQL.
func (db *DB) CheckDisk() error {
	if db.Engine != SQLite {
		return nil
	}
	return outage.CheckDisk(filepath.Dir(db.file))
}

// Close closes both pools.
func (db *DB) Close() error {
	err := db.Write.Close()
	if db.Engine == SQLite { // PostgreSQL has one pool
		err = errors.Join(err, db.Read.Close())
	}
	return err
}

// MaxTx is the maximum duration of InTx, including the time spent waiting for locks and in retries.
const MaxTx = time.Minute

// InTx runs fn in a transaction. If PostgreSQL aborts the transaction because of a deadlock, fn
// runs again in a new one, as in [RetryOnDeadlock]. InTx returns the error of ctx if ctx ends
// before the transaction begins. From then on it ignores the cancellation of ctx: if a COMMIT were
// canceled while it runs, it would be unknown whether the transaction was committed.
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
	return RetryOnDeadlock(func() error { return db.Write.RunInTx(ctx, nil, fn) })
}

// InLongTx runs fn in a transaction like InTx, for maintenance of whole tables. It has no time
// limit and no limit per caller, and is rolled back when ctx ends.
func (db *DB) InLongTx(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	return RetryOnDeadlock(func() error { return db.Write.RunInTx(ctx, nil, fn) })
}

// OneOf returns the condition that a column is one of the values that q selects. If many rows were
// inserted since the last ANALYZE, PostgreSQL may run the query in "IN (q)" once for each row of
// the table: adding up 13,000 downloads took 8 s. It runs a query that selects an array only once.
func (db *DB) OneOf(q *bun.SelectQuery) schema.QueryAppender {
	if db.Engine == Postgres {
		return bun.SafeQuery("= ANY(ARRAY(?))", q)
	}
	return bun.SafeQuery("IN (?)", q)
}

// ForUpdate locks the rows of q until the transaction ends. SQLite has no row locks and does not
// need them: a transaction of the write pool has the write lock from its start.
func (db *DB) ForUpdate(q *bun.SelectQuery) *bun.SelectQuery {
	if db.Engine == Postgres {
		return q.For("UPDATE")
	}
	return q
}

// ForShare locks the rows of q so that they cannot be deleted until the transaction ends. Their
// keys cannot be changed either, but other columns can.
func (db *DB) ForShare(q *bun.SelectQuery) *bun.SelectQuery {
	if db.Engine == Postgres {
		return q.For("KEY SHARE")
	}
	return q
}
