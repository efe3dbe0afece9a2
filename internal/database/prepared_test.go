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
// checks the rows and, on SQLite, the number of prepared statements.
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
			_ = conn.Raw(func(conn any) error {
				if prepared := len(conn.(*keepingConn).idle); prepared == 0 || prepared > maxTextsSQLite {
					t.Errorf("%d prepared statements, want at most %d", prepared, maxTextsSQLite)
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
