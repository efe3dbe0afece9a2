package models

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
)

// beside calls acts while a transaction is open in which hold has run. It calls each of them, and
// finally commits the transaction, as soon as the one before waits for a lock or has ended. It
// returns the errors of acts.
func beside(t *testing.T, s *Store, hold func(ctx context.Context, tx bun.Tx) error, acts ...func() error) error {
	t.Helper()
	done := make([]chan error, len(acts))
	err := s.db.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		if err := hold(ctx, tx); err != nil {
			return err
		}
		before := s.db.Write.Stats().WaitCount
		for i, act := range acts {
			done[i] = make(chan error, 1)
			go func() { done[i] <- act() }()
			for waits := int64(0); waits <= int64(i) && len(done[i]) == 0; time.Sleep(time.Millisecond) {
				if s.db.Engine == database.SQLite { // acts wait for the connection of this transaction
					waits = s.db.Write.Stats().WaitCount - before
					continue
				}
				var err error
				waits, err = s.db.Read.NewSelect().TableExpr("pg_stat_activity").Where("datname = current_database() AND wait_event_type = 'Lock'").Count(ctx)
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
