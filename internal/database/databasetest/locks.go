package databasetest

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
)

// Beside calls acts while a transaction is open in which hold has run. It calls each of them, and
// finally commits the transaction, as soon as the one before waits for a lock or has ended. It
// returns the errors of acts.
func Beside(ctx context.Context, db *database.DB, hold func(ctx context.Context, tx bun.Tx) error,
	acts ...func() error) error {
	done := make([]chan error, len(acts))
	err := db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := hold(ctx, tx); err != nil {
			return err
		}
		before := db.Write.Stats().WaitCount
		for i, act := range acts {
			done[i] = make(chan error, 1)
			go func() { done[i] <- act() }()
			for waits := int64(0); waits <= int64(i) && len(done[i]) == 0; time.Sleep(time.Millisecond) {
				if db.Engine == database.SQLite { // acts wait for the connection of this transaction
					waits = db.Write.Stats().WaitCount - before
					continue
				}
				var err error
				waits, err = db.Read.NewSelect().TableExpr("pg_stat_activity").
					Where("datname = current_database() AND wait_event_type = 'Lock'").Count(ctx)
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	for _, ended := range done {
		err = errors.Join(err, <-ended)
	}
	return err
}

// Deadlock makes act wait for the rows second, while the transaction that holds second waits for
// the rows first, which act has locked.
func Deadlock(ctx context.Context, db *database.DB, first, second string, act func() error) error {
	done := make(chan error, 1)
	err := db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		lock := func(rows string) error {
			_, err := tx.ExecContext(ctx, "SELECT 1 FROM "+rows+" FOR UPDATE")
			return err
		}
		// PostgreSQL aborts the transaction that finds the deadlock, which must be that of act.
		if _, err := tx.ExecContext(ctx, "SET LOCAL deadlock_timeout = '1min'"); err != nil {
			return err
		}
		if err := lock(second); err != nil {
			return err
		}
		go func() { done <- act() }()
		for waits := false; !waits; time.Sleep(time.Millisecond) {
			var err error
			if waits, err = WaitsForLock(ctx, db); err != nil {
				return err
			}
		}
		return lock(first)
	})
	return errors.Join(err, <-done)
}

// WaitsForLock reports whether a transaction on PostgreSQL waits for a lock.
func WaitsForLock(ctx context.Context, db *database.DB) (bool, error) {
	return db.Read.NewSelect().TableExpr("pg_stat_activity").
		Where("datname = current_database() AND wait_event_type = 'Lock'").Exists(ctx)
}
