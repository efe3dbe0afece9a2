package models

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// panicking is a row that panics when it is read.
type panicking struct{ N int }

func (*panicking) AfterScanRow(context.Context) error { panic("a row") }

// TestPanicsFreeSlots checks that statements and transactions that panic do not keep the slots of
// their caller.
func TestPanicsFreeSlots(t *testing.T) {
	eachStore(t, func() {}, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := auth.WithCaller(t.Context(), ada, nil)
		panics := func(name string, f func(ctx context.Context)) {
			ctx, end := WithSlots(ctx)
			defer end()
			defer func() {
				if recover() == nil {
					t.Errorf("%s: does not panic", name)
				}
			}()
			f(ctx)
		}
		for range 2 { // as many as one caller has slots on SQLite
			panics("statement", func(ctx context.Context) {
				_ = s.db.read.NewSelect().Model(new(panicking)).ModelTableExpr("(SELECT 1 AS n) AS p").ColumnExpr("n").Scan(ctx)
			})
			panics("transaction", func(ctx context.Context) {
				_ = s.db.inTx(ctx, func(context.Context, bun.Tx) error { panic("in a transaction") })
			})
		}
		if held := s.db.reads.limiter.Held() + s.db.transactions.Held(); held != 0 {
			t.Errorf("%d slots are held, want 0", held)
		}
	})
}

// TestLateStatementsKeepOthersSlots checks that a statement that ends after its operation frees one
// slot, not two.
func TestLateStatementsKeepOthersSlots(t *testing.T) {
	eachStore(t, func() {}, func(t *testing.T, s *Store, ada auth.Caller) {
		all := auth.WithCaller(t.Context(), ada, nil)
		ctx, end := WithSlots(all)
		if err := s.db.reads.acquire(ctx); err != nil {
			t.Fatal(err)
		}
		if err := s.db.reads.acquire(all); err != nil { // of another operation
			t.Fatal(err)
		}
		end()
		s.db.reads.release(ctx)
		if held := s.db.reads.limiter.Held(); held != 1 {
			t.Errorf("%d slots are held, want 1", held)
		}
		s.db.reads.release(all)
	})
}
