package database

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/pgtest"
)

// each runs a test on a database of each engine, with the context of a request of a user.
func each(t *testing.T, test func(t *testing.T, ctx context.Context, db *DB)) {
	for _, engine := range []Engine{SQLite, Postgres} {
		t.Run(string(engine), func(t *testing.T) {
			address := "sqlite:" + filepath.Join(t.TempDir(), "db")
			if engine == Postgres {
				address = pgtest.Database(t)
			}
			db, err := Open(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			test(t, auth.WithCaller(t.Context(), auth.Caller{UserID: 1}, nil), db)
		})
	}
}

// panicking is a model whose AfterScanRow panics.
type panicking struct{ N int }

func (*panicking) AfterScanRow(context.Context) error { panic("a row") }

// TestPanicsFreeSlots checks that the slots of statements and transactions that panic are released.
func TestPanicsFreeSlots(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
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
		for range 2 { // the number of slots of one caller on SQLite
			panics("statement", func(ctx context.Context) {
				_ = db.Read.NewSelect().Model(new(panicking)).ModelTableExpr("(SELECT 1 AS n) AS p").ColumnExpr("n").Scan(ctx)
			})
			panics("selection", func(ctx context.Context) {
				var rows []panicking
				_ = db.selectText(ctx, "SELECT 1 AS n", &rows)
			})
			panics("transaction", func(ctx context.Context) {
				_ = db.InTx(ctx, func(context.Context, bun.Tx) error { panic("in a transaction") })
			})
		}
		if held := db.reads.limiter.Held() + db.transactions.Held(); held != 0 {
			t.Errorf("%d slots are held, want 0", held)
		}
	})
}

// TestLateStatements checks that exactly one slot is released for a statement that ends after its
// operation, and for one that also begins after it, and not the slot of another operation.
func TestLateStatements(t *testing.T) {
	each(t, func(t *testing.T, all context.Context, db *DB) {
		acquire := func(ctx context.Context) *slot {
			t.Helper()
			s, err := db.reads.acquire(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		ctx, end := WithSlots(all)
		endsLate, other := acquire(ctx), acquire(all)
		end()
		beginsLate := acquire(ctx)
		beginsLate.release()
		endsLate.release()
		if held := db.reads.limiter.Held(); held != 1 {
			t.Errorf("%d slots are held, want 1", held)
		}
		other.release()
		if held := db.reads.limiter.Held(); held != 0 {
			t.Errorf("%d slots are held, want 0", held)
		}
	})
}

// TestVerbs checks that OnStatement reports the verbs of statements, including raw ones.
func TestVerbs(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		var verbs []string
		db.OnStatement(func(verb string, _ time.Duration, _ error) { verbs = append(verbs, verb) })
		err := db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			for _, text := range []string{
				"CREATE TABLE verbs (id bigint)", "INSERT INTO verbs (id) VALUES (1)", "WITH v AS (SELECT 1) SELECT * FROM v",
			} {
				if _, err := tx.NewRaw(text).Exec(ctx); err != nil {
					return err
				}
			}
			_, err := tx.NewDelete().Table("verbs").Where("id = $1").Conn(Bind(tx, 1)).Exec(ctx)
			return err
		})
		if want := []string{"BEGIN", "OTHER", "INSERT", "SELECT", "DELETE", "COMMIT"}; err != nil ||
			!reflect.DeepEqual(verbs, want) {
			t.Errorf("got %v, %v, want %v", verbs, err, want)
		}
	})
}
