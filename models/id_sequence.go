package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/uptrace/bun"
)

// takeIDs takes n IDs from the sequence of a table. No row has or had them.
func (db *DB) takeIDs(ctx context.Context, tx bun.Tx, table string, n int) (ids []int64, err error) {
	if n == 0 {
		return nil, nil
	}
	if db.Engine == database.Postgres {
		err = tx.NewRaw("SELECT nextval(pg_get_serial_sequence(?, 'id')) FROM generate_series(1, ?)", table, n).Scan(ctx, &ids)
		return ids, err
	}
	var last int64
	err = tx.NewRaw("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ? RETURNING seq", n, table).Scan(ctx, &last)
	if errors.Is(err, sql.ErrNoRows) { // the table has not had a row yet
		last = int64(n)
		_, err = tx.NewRaw("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", table, last).Exec(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("take %d ids of %s: %w", n, table, err)
	}
	for id := last - int64(n) + 1; id <= last; id++ {
		ids = append(ids, id)
	}
	return ids, nil
}

// lastID returns the last ID that the sequence of a table has assigned, or 0.
func (db *DB) lastID(ctx context.Context, tx bun.IDB, table string) (last int64, err error) {
	query := "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)"
	if db.Engine == database.Postgres {
		query = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence(?, 'id')::regclass), 0)"
	}
	err = tx.NewRaw(query, table).Scan(ctx, &last)
	return last, err
}

// setLastID sets the sequence of a table, so that the next row gets an ID greater than last.
func (db *DB) setLastID(ctx context.Context, tx bun.Tx, table string, last int64) error {
	if db.Engine == database.Postgres {
		_, err := tx.NewRaw("SELECT setval(pg_get_serial_sequence(?, 'id'), ?)", table, last).Exec(ctx)
		return err
	}
	if _, err := tx.NewRaw("DELETE FROM sqlite_sequence WHERE name = ?", table).Exec(ctx); err != nil {
		return err
	}
	_, err := tx.NewRaw("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", table, last).Exec(ctx)
	return err
}
