package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// A connection pooler in transaction mode, such as PgBouncer with pool_mode = transaction, gives a
// client another connection to PostgreSQL for each transaction. What a statement leaves behind in a
// session is then missing for later statements, and there for those of other clients: prepared
// statements, SET, session-level advisory locks, temporary tables. With the parameter
// pool_mode=transaction in its URL, a DB uses nothing of that.

// pooledDialect is Bun's dialect of a database behind a connection pooler in transaction mode.
type pooledDialect struct{ *pgdialect.Dialect }

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

// isPooledURL reports whether the URL of a database of PostgreSQL says that a connection pooler in
// transaction mode is between.
func isPooledURL(address string) bool {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return false
	}
	pooled, _ := takePoolMode(config)
	return pooled
}

// pooledSettings are the settings that statements rely on, and that poolers do not pass on when a
// connection opens. PgBouncer does pass on the parameters that open sets in the URL.
var pooledSettings = []struct{ name, want string }{
	{"default_transaction_isolation", "read committed"}, {"bytea_output", "hex"}, {"extra_float_digits", "1"},
}

// checkPooler returns an error if statements would fail because of a connection pooler: if one in
// transaction mode was not declared in the URL, or if the role has other settings than they need.
func (d postgresDialect) checkPooler(ctx context.Context, db *DB) error {
	if !d.pooled {
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
		if err := db.SQL().QueryRowContext(ctx, "SELECT current_setting('"+setting.name+"'), current_user").
			Scan(&got, &role); err != nil {
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
