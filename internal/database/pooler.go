package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/schema"
)

// A connection pooler in transaction mode, such as PgBouncer with pool_mode = transaction, gives a
// client another connection to PostgreSQL for each transaction. What a statement leaves behind in a
// session is then missing for later statements, and there for those of other clients: prepared
// statements, SET, session-level advisory locks, temporary tables. With the parameter
// pool_mode=transaction in its URL, a DB uses nothing of that.

// pooledDialect is the dialect of a database behind a connection pooler in transaction mode.
type pooledDialect struct{ *pgdialect.Dialect }

// keptMode returns how a connection runs statements whose texts are used repeatedly. Behind a
// connection pooler in transaction mode, a connection keeps only the types of their arguments and
// results. PostgreSQL plans the statement each time.
func keptMode(d schema.Dialect) pgx.QueryExecMode {
	if _, pooled := d.(pooledDialect); pooled {
		return pgx.QueryExecModeCacheDescribe
	}
	return pgx.QueryExecModeCacheStatement
}

// HasSessions reports whether the statements of a connection run in one session, so that SET has an
// effect on later ones. Behind a connection pooler in transaction mode, SET would instead have an
// effect on other clients.
func (db *DB) HasSessions() bool {
	_, pooled := db.Write.Dialect().(pooledDialect)
	return !pooled
}

// takePoolMode removes the parameter pool_mode, which PostgreSQL does not know, and reports whether
// it is transaction.
func takePoolMode(config *pgx.ConnConfig) (transaction bool, err error) {
	mode, ok := config.RuntimeParams["pool_mode"]
	delete(config.RuntimeParams, "pool_mode")
	if ok && mode != "transaction" && mode != "session" {
		return false, fmt.Errorf("pool_mode: must be transaction or session (got %q)", mode)
	}
	return mode == "transaction", nil
}

// UsesTransactionPooler reports whether the URL of a database says that a connection pooler in
// transaction mode is between.
func UsesTransactionPooler(address string) bool {
	config, err := pgx.ParseConfig(address)
	return !strings.HasPrefix(address, "sqlite:") && err == nil && config.RuntimeParams["pool_mode"] == "transaction"
}

// pooledSettings are the settings that statements rely on, and that poolers do not pass on when a
// connection opens. PgBouncer does pass on the parameters that openPostgres sets in the URL.
var pooledSettings = []struct{ name, want string }{
	{"default_transaction_isolation", "read committed"}, {"bytea_output", "hex"}, {"extra_float_digits", "1"},
}

// checkPooler returns an error if statements would fail because of a connection pooler: if one in
// transaction mode was not declared in the URL, or if the role has other settings than they need.
func (db *DB) checkPooler(ctx context.Context) error {
	if db.Engine != Postgres {
		return nil
	}
	if db.HasSessions() {
		found, err := db.findTransactionPooler(ctx)
		if err != nil {
			return fmt.Errorf("look for a connection pooler: %w", err)
		}
		if found {
			return errors.New("a connection pooler in transaction mode is between this server and PostgreSQL: " +
				"add pool_mode=transaction to --database-url, such as postgres://USER:PASSWORD@HOST:6432/DATABASE?pool_mode=transaction, " +
				"or use its session mode")
		}
		return nil
	}
	for _, setting := range pooledSettings {
		var got, role string
		if err := db.SQL().QueryRowContext(ctx, "SELECT current_setting('"+setting.name+"'), current_user").Scan(&got, &role); err != nil {
			return fmt.Errorf("look up %s: %w", setting.name, err)
		}
		if got != setting.want {
			return fmt.Errorf("the role %[1]s has %[2]s = '%[3]s' and needs '%[4]s', which cannot be set through a connection pooler in transaction mode: "+
				"run ALTER ROLE \"%[1]s\" SET %[2]s = '%[4]s', and reconnect the pooler", role, setting.name, got, setting.want)
		}
	}
	return nil
}

// findTransactionPooler reports whether two connections share connections to PostgreSQL. Through a
// pooler, the process ID that PostgreSQL reports differs from the one that the connection got when
// it opened. In transaction mode it also changes, or is that of another connection.
func (db *DB) findTransactionPooler(ctx context.Context) (bool, error) {
	first, err := db.SQL().Conn(ctx)
	if err != nil {
		return false, err
	}
	defer first.Close()
	var announced uint32
	if err := first.Raw(func(conn any) error {
		announced = conn.(*stdlib.Conn).Conn().PgConn().PID()
		return nil
	}); err != nil {
		return false, err
	}
	process, err := processOf(ctx, first)
	if err != nil || process == announced {
		return false, err
	}
	// A pooler in session mode with a single connection makes the second client wait.
	within, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	found, err := db.sharesProcess(within, first, process)
	if within.Err() != nil && ctx.Err() == nil {
		return false, nil
	}
	return found, err
}

// sharesProcess reports whether the process that first had runs a transaction of another
// connection, or whether first has another process during or after that transaction.
func (db *DB) sharesProcess(ctx context.Context, first *sql.Conn, process uint32) (bool, error) {
	tx, err := db.SQL().BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	if other, err := processOf(ctx, tx); err != nil || other == process {
		return err == nil, err
	}
	for range 3 { // a pooler may use its connections in turn
		if now, err := processOf(ctx, first); err != nil || now != process {
			return err == nil, err
		}
		_ = tx.Rollback()
	}
	return false, nil
}

func processOf(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (process uint32, err error) {
	err = db.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&process)
	return process, err
}
