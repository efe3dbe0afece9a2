package main

import (
	"context"
	"runtime"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// databaseConns is the number of connections to PostgreSQL that the server uses.
func databaseConns() int { return min(max(16, 4*runtime.NumCPU()), 64) }

// openPool opens connections to PostgreSQL with the settings that the server has.
func openPool(ctx context.Context, address string) (*pgxpool.Pool, error) {
	settings, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	settings.MaxConns = int32(databaseConns())
	settings.ConnConfig.StatementCacheCapacity = 4096 // all that a row of the table needs
	settings.ConnConfig.RuntimeParams["timezone"] = "UTC"
	settings.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx,
			"SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0")
		return err
	}
	return pgxpool.NewWithConfig(ctx, settings)
}

type replayPostgres struct{ *pgxpool.Pool }

func openReplayPostgres(ctx context.Context, address string) (executor, error) {
	pool, err := openPool(ctx, address)
	return replayPostgres{pool}, err
}

func (p replayPostgres) run(ctx context.Context, s *statement) error {
	return drain(p.Query(ctx, s.Text, s.Args...))
}

func (p replayPostgres) begin(ctx context.Context) (transaction, error) {
	conn, err := p.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	_, err = conn.Exec(ctx, "BEGIN; SAVEPOINT before")
	return postgresTx{conn}, err
}

type postgresTx struct{ *pgxpool.Conn }

func (t postgresTx) run(ctx context.Context, s *statement) error {
	return drain(t.Query(ctx, s.Text, s.Args...))
}

func (t postgresTx) end(ctx context.Context) error {
	defer t.Release()
	_, err := t.Exec(ctx, "ROLLBACK TO before; COMMIT")
	return err
}

// drain reads all rows, without decoding them.
func drain(rows pgx.Rows, err error) error {
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	rows.Close()
	return rows.Err()
}
