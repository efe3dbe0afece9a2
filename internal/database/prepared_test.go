package database

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
	"modernc.org/sqlite"
)

// TestForIDs runs more statements than are kept, each of them several times concurrently, and
// checks the rows and, on SQLite, that the statements used last stay prepared and no others.
func TestForIDs(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		const names = maxTextsSQLite + 10
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				for n := range names {
					var ids []int64
					err := db.ForIDs(ctx, fmt.Sprint("number ", n), []int64{int64(n), 1001, int64(worker)}, &ids, func(among, also schema.QueryAppender) *bun.SelectQuery {
						return db.Read.NewSelect().TableExpr("(SELECT ? AS id UNION ALL SELECT 1000 UNION ALL SELECT 1001) AS n", n).
							ColumnExpr("n.id").Where("n.id ?", among).Where("n.id <> ?", also).OrderExpr("n.id")
					}, 1001)
					if err != nil || !reflect.DeepEqual(ids, []int64{int64(n)}) {
						t.Errorf("got %v, %v, want [%d]", ids, err, n)
						return
					}
				}
			})
		}
		all.Wait()
		if db.Engine == SQLite {
			conn, err := db.Read.DB.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			rows, err := conn.QueryContext(keepPrepared(ctx), "SELECT value FROM json_each('[1, 2, 3]')")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			rows.Next()
			for n := range 2 * maxTextsSQLite { // evicts the statement that runs, too
				var at int64
				if err := conn.QueryRowContext(keepPrepared(ctx), fmt.Sprint("SELECT ", n)).Scan(&at); err != nil || at != int64(n) {
					t.Fatalf("got %d, %v, want %d", at, err, n)
				}
			}
			left := 0
			for rows.Next() {
				left++
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil || left != 2 {
				t.Errorf("%d rows were left, %v, want 2", left, err)
			}
			_ = conn.Raw(func(conn any) error {
				kept := conn.(*keepingConn).kept
				if kept.Len() != maxTextsSQLite || !kept.Contains(fmt.Sprint("SELECT ", 2*maxTextsSQLite-1)) || kept.Contains("SELECT 0") {
					t.Errorf("%d prepared statements, want the %d used last: %q", kept.Len(), maxTextsSQLite, kept.Keys())
				}
				return nil
			})
		}
	})
}

// TestPreparedFails checks that a prepared statement that fails returns the error of the database,
// and can be run again.
func TestPreparedFails(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		type row struct{ N int64 }
		absolute := func(n int64) (numbersErr, rowsErr error) {
			query := func(placeholders []any) string {
				return db.Read.NewRaw("SELECT abs(CAST(? AS bigint)) AS n", placeholders...).String()
			}
			var numbers []int64
			var rows []row
			return db.Prepared(ctx, "number", &numbers, query, n), db.Prepared(ctx, "row", &rows, query, n)
		}
		for _, n := range []int64{math.MinInt64, 1, math.MinInt64} { // MinInt64 has no absolute value
			numbers, rows := absolute(n)
			for _, err := range []error{numbers, rows} {
				var lite *sqlite.Error
				var pg *pgconn.PgError
				if failed := errors.As(err, &lite) || errors.As(err, &pg) && pg.Code == "22003"; failed != (n < 0) || (err != nil) != failed {
					t.Errorf("abs(%d): %v", n, err)
				}
			}
		}
	})
}
