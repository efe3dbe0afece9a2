package dblock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/meshyard/meshyard/internal/outage"
)

// key is the key of the advisory lock.
const key = 0x6d657379

// The session of a process that was killed ends a moment later, when PostgreSQL notices that the
// connection is closed.
const (
	retryFor   = 5 * time.Second
	retryEvery = 100 * time.Millisecond
)

// lockSession acquires the advisory lock on a connection of its own.
func (l *Lock) lockSession(ctx context.Context) error {
	conn, err := l.connect(ctx)
	if err != nil {
		return err
	}
	if err := l.lockOn(ctx, conn); err != nil {
		return errors.Join(err, conn.Close(ctx))
	}
	l.conn = conn
	return nil
}

func (l *Lock) connect(ctx context.Context) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(l.address)
	if err != nil {
		return nil, err
	}
	delete(config.RuntimeParams, "pool_mode") // of internal/database; PostgreSQL does not know it
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.RuntimeParams["application_name"] = l.by
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	config.DialFunc = outage.Dial(config.DialFunc)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return conn, nil
}

// session calls fn with a connection that has no open transaction.
func (l *Lock) session(ctx context.Context, fn func(*pgx.Conn) error) error {
	if !l.pooled {
		return fn(l.conn)
	}
	conn, err := l.connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fn(conn), conn.Close(ctx))
}

// lockOn acquires the lock on a connection. It waits a moment for sessions that are about to end.
func (l *Lock) lockOn(ctx context.Context, conn *pgx.Conn) error {
	var process uint32
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&process); err != nil {
		return fmt.Errorf("lock the database: %w", err)
	}
	function := "pg_try_advisory_lock"
	// A pooler announces another process than that of PostgreSQL. If it is in transaction mode, a lock
	// of the session would stay when this process has ended, and so would settings.
	if l.pooled = process != conn.PgConn().PID(); l.pooled {
		function = "pg_try_advisory_xact_lock"
		// With another isolation level, the transaction would keep VACUUM from removing dead rows.
		if _, err := conn.Exec(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED, READ ONLY"); err != nil {
			return fmt.Errorf("lock the database: %w", err)
		}
	}
	if l.mode == Shared {
		function += "_shared"
	}
	query := "SELECT " + function + "($1::bigint)"
	// The server would end a session, or a transaction, that is idle for longer.
	_, err := conn.Exec(ctx, "SELECT set_config(name, '0', $1::boolean) FROM pg_settings "+
		"WHERE name IN ('idle_session_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')", l.pooled)
	if err != nil {
		return fmt.Errorf("lock the database: %w", err)
	}
	for deadline := time.Now().Add(retryFor); ; {
		var locked bool
		if err := conn.QueryRow(ctx, query, int64(key)).Scan(&locked); err != nil || locked {
			return err
		}
		if time.Now().After(deadline) {
			return l.heldBy(ctx, conn)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryEvery):
		}
	}
}

// heldBy returns the error that names a process that holds the lock.
func (l *Lock) heldBy(ctx context.Context, conn *pgx.Conn) error {
	var database, by, client string
	err := conn.QueryRow(ctx, `SELECT a.datname, coalesce(nullif(a.application_name, ''), 'a session'), coalesce(host(a.client_addr), 'this machine')
		FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND l.granted AND l.objid = $1::bigint::oid AND l.classid = 0 AND l.objsubid = 1
		AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1`, int64(key)).Scan(&database, &by, &client)
	if err != nil {
		return inUse(conn.Config().Database, "")
	}
	return inUse(database, by+" on "+client)
}

// programs counts the sessions of pg_restore: it goes on when the process that started it is
// killed.
const programs = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pg_restore'"

// AwaitRestore waits until no pg_restore of an interrupted restore runs. It does nothing on SQLite.
func (l *Lock) AwaitRestore(ctx context.Context) error {
	for l.conn != nil {
		var running int
		if err := l.session(ctx, func(conn *pgx.Conn) error {
			return conn.QueryRow(ctx, programs).
				Scan(&running)
		}); err != nil {
			return fmt.Errorf("wait for pg_restore: %w", err)
		}
		if running == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryEvery):
		}
	}
	return nil
}
