package models

import (
	"context"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
)

// beside calls act while a transaction is open in which hold has run. It commits the transaction as
// soon as act waits for it, or has ended, and returns the error of act.
func beside(t *testing.T, s *Store, hold func(ctx context.Context, tx bun.Tx) error, act func() error) error {
	t.Helper()
	done := make(chan error, 1)
	err := s.db.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		if err := hold(ctx, tx); err != nil {
			return err
		}
		waited := s.db.Write.Stats().WaitCount
		go func() { done <- act() }()
		for waits := false; !waits && len(done) == 0; time.Sleep(time.Millisecond) {
			if s.db.Engine == database.SQLite { // act waits for the connection of this transaction
				waits = s.db.Write.Stats().WaitCount > waited
				continue
			}
			var err error
			waits, err = s.db.Read.NewSelect().TableExpr("pg_stat_activity").Where("datname = current_database() AND wait_event_type = 'Lock'").Exists(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return <-done
}
