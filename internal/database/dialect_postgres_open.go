package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/schema"

	"github.com/meshyard/meshyard/internal/outage"
)

// errAddress is the error of a URL with an unknown scheme. The URL may contain a password, as in
// host=… password=…, so it is not in the message.
var errAddress = errors.New("database URL: must be sqlite:PATH or postgres://…")

// IsPostgresURL reports whether the scheme of a URL is that of PostgreSQL.
func IsPostgresURL(address string) bool {
	scheme, _, ok := strings.Cut(address, ":")
	return ok && (scheme == "postgres" || scheme == "postgresql")
}

func (d postgresDialect) open(db *DB, address string, observe observer) error {
	if !IsPostgresURL(address) {
		return errAddress
	}
	pool, err := d.pool(address, observe)
	if err != nil {
		return err
	}
	db.Write = bun.NewDB(pool, d.bun()).WithQueryHook(&db.statements).WithQueryHook(writes{db})
	d.limitConnections(db, min(max(16, 4*runtime.NumCPU()), 64))
	return nil
}

// bun returns Bun's dialect.
func (d postgresDialect) bun() schema.Dialect {
	if d.pooled {
		return pooledDialect{pgdialect.New()}
	}
	return pgdialect.New()
}

// pool returns a pool of connections to the server at address.
func (d postgresDialect) pool(address string, observe observer) (*sql.DB, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	if _, err := takePoolMode(config); err != nil {
		return nil, err
	}
	config.Tracer = observe.tracer()
	// Bun writes values into the text of a statement, so a text is rarely used twice. Preparing it
	// would only fill the memory of the database server.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	// Advice for poolers sets them to 0 in the URL. Then every statement that stays prepared would
	// fail.
	config.StatementCacheCapacity, config.DescriptionCacheCapacity = 512, 512
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
		if d.pooled {
			return nil // checkPooler checks the settings
		}
		// plan_cache_mode: by default, PostgreSQL would plan even prepared statements each time they
		// run, because a plan for the few IDs of one batch looks cheaper than a generic plan. Planning
		// takes longer than running them. jit: compiling a statement to machine code is worthwhile for
		// reports, but here it takes seconds for statements that run for milliseconds.
		// max_parallel_workers_per_gather: a search for a common word took twice as long with two
		// parallel workers as without. bytea_output and extra_float_digits: pgx reads bytes in
		// hexadecimal, and floats need all digits. default_transaction_isolation: transactions lock the
		// rows that they depend on, and with a higher level than READ COMMITTED, one that waited for
		// another would fail. These are not parameters of the connection, because connection poolers
		// reject those.
		_, err := conn.Exec(ctx,
			"SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0; "+
				"SET bytea_output = hex; SET extra_float_digits = 1; SET default_transaction_isolation = 'read committed'")
		return err
	}))
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return pool, nil
}

func (postgresDialect) limitConnections(db *DB, n int) {
	db.Write.SetMaxOpenConns(n)
	db.Write.SetMaxIdleConns(n)
	db.limit(n, n, Concurrency{Statements: n / 4, Transactions: n / 4})
	db.Read = bun.NewDB(db.SQL(), db.Write.Dialect(), bun.WithConnResolver(resolver{})).WithQueryHook(&db.statements).
		WithQueryHook(db.reads)
}

func (d postgresDialect) checkServer(ctx context.Context, db *DB) error {
	return errors.Join(d.checkEncoding(ctx, db), d.checkPooler(ctx, db))
}

// checkEncoding returns an error if the database has another encoding than UTF8. Such a
// database rejects some texts. With SQL_ASCII it does not check or convert them at all, so another
// client, or a restore to a database with a known encoding, can change them.
func (postgresDialect) checkEncoding(ctx context.Context, db *DB) error {
	var encoding string
	if err := db.SQL().QueryRowContext(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return fmt.Errorf("look up the encoding: %w", err)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("the database has the encoding %s and must have UTF8: create another one, such as with createdb --template=template0 --encoding=UTF8 NAME", encoding)
	}
	return nil
}
