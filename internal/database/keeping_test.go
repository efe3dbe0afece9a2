package database

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/uptrace/bun"
)

// TestBind checks that statements with arguments in transactions have the same effect as statements
// with values in their text, and that they stay prepared for the next transaction.
func TestBind(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		exec := func(text string, args ...any) {
			t.Helper()
			if _, err := db.Write.NewRaw(text, args...).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		// Times are declared as in the migrations.
		declared := map[Engine]string{SQLite: "TIMESTAMP", Postgres: "timestamptz"}[db.Engine]
		exec("CREATE TABLE events (id bigint PRIMARY KEY, name text NOT NULL, at " + declared + ", until " + declared + ")")
		at := time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)
		const insert = "INSERT INTO events (id, name, at, until) VALUES ($1, $2, $3, $4)"
		add := func(tx bun.Tx, id int64) error {
			_, err := tx.NewRaw(insert).Conn(Bind(tx, id, "it's ?", at, &at)).Exec(ctx)
			return err
		}
		failed := errors.New("failed")
		if err := db.InTx(ctx, func(_ context.Context, tx bun.Tx) error {
			return errors.Join(add(tx, 1),
				add(tx, 1))
		}); !IsUnique(err) {
			t.Errorf("a duplicate id: %v", err)
		}
		for _, err := range []error{failed, nil} {
			got := db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
				return errors.Join(add(tx, 1), add(tx, 2), err)
			})
			if !errors.Is(got, err) {
				t.Fatalf("got %v, want %v", got, err)
			}
		}
		exec("INSERT INTO events (id, name, at, until) VALUES (3, ?, ?, NULL)", "it's ?", at)
		var same []int64
		err := db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			before := db.Statements()
			q := tx.NewSelect().Table("events").Column("id").Where("at = $2 AND name = $1").Order("id")
			if err := q.Conn(Bind(tx, "it's ?", at)).Scan(ctx, &same); err != nil {
				return err
			}
			if n := db.Statements() - before; n != 1 {
				t.Errorf("counted as %d statements, want 1", n)
			}
			found, err := tx.NewSelect().Table("events").Where("id = $1 AND until IS NULL").Conn(Bind(tx, 3)).Exists(ctx)
			if !found {
				t.Error("event 3 does not exist, or has an end")
			}
			return err
		})
		if want := []int64{1, 2, 3}; err != nil || !reflect.DeepEqual(same, want) {
			t.Errorf("events of the same time: %v, %v, want %v", same, err, want)
		}
		if n := prepared(t, ctx, db, insert); n != 1 {
			t.Errorf("the statement is prepared %d times on the connection, want once", n)
		}
	})
}

// prepared returns how many prepared statements with a text a connection of the write pool has.
func prepared(t *testing.T, ctx context.Context, db *DB, text string) (n int) {
	t.Helper()
	if db.Engine == Postgres {
		if err := db.Write.NewRaw("SELECT count(*) FROM pg_prepared_statements WHERE statement = ?", text).
			Scan(ctx, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	conn, err := db.Write.DB.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.Raw(func(conn any) error {
		if conn.(*keepingConn).kept.Contains(text) {
			n = 1
		}
		return nil
	})
	return n
}

// TestBindWhileRowsAreRead checks that a transaction can run a statement again before all rows of
// its first execution are read.
func TestBindWhileRowsAreRead(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		if db.Engine == Postgres {
			return // its connections run one statement at a time
		}
		const numbers = "SELECT value FROM json_each($1)"
		var pairs [][2]int
		err := db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			outer, err := Bind(tx, "[1,2]").QueryContext(ctx, numbers)
			if err != nil {
				return err
			}
			defer outer.Close()
			for outer.Next() {
				var n int
				if err := outer.Scan(&n); err != nil {
					return err
				}
				var inner []int
				if err := tx.NewRaw(numbers).Conn(Bind(tx, "[3,4]")).Scan(ctx, &inner); err != nil {
					return err
				}
				for _, m := range inner {
					pairs = append(pairs, [2]int{n, m})
				}
			}
			return outer.Err()
		})
		if want := [][2]int{{1, 3}, {1, 4}, {2, 3}, {2, 4}}; err != nil || !reflect.DeepEqual(pairs, want) {
			t.Errorf("got %v, %v, want %v", pairs, err, want)
		}
	})
}
