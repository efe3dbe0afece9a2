package database

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
)

// numberKey reads the numbers among those in argument 0, except that in argument 1.
type numberKey struct{ n int }

func (k numberKey) Text(b *Builder) (string, error) {
	return b.Text(b.Select().TableExpr("(SELECT ? AS id UNION ALL SELECT 1000 UNION ALL SELECT 1001) AS n", k.n).
		ColumnExpr("n.id").Where("n.id ?", b.InList(0)).Where("n.id <> ?", b.Arg(1)).OrderExpr("n.id"))
}

// TestRead runs more statements than are kept, each of them several times concurrently, and
// checks the rows and, on SQLite, that the statements used last stay prepared and no others.
func TestRead(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		const names = maxTextsSQLite + 10
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				for n := range names {
					var ids []int64
					err := Read(ctx, db, numberKey{n}, &ids, []int64{int64(n), 1001, int64(worker)}, int64(1001),
						"an argument that is not used")
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
				if err := conn.QueryRowContext(keepPrepared(ctx), fmt.Sprint("SELECT ", n)).Scan(&at); err != nil ||
					at != int64(n) {
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
				if kept.Len() != maxTextsSQLite || !kept.Contains(fmt.Sprint("SELECT ", 2*maxTextsSQLite-1)) ||
					kept.Contains("SELECT 0") {
					t.Errorf("%d prepared statements, want the %d used last: %q", kept.Len(), maxTextsSQLite, kept.Keys())
				}
				return nil
			})
		}
	})
}

// limit is what the text of unsoundKey depends on, although the key does not contain it.
var limit int64 = 1

type unsoundKey struct{}

func (unsoundKey) Text(b *Builder) (string, error) {
	return b.Text(b.Select().TableExpr("(SELECT 1 AS id) AS n").ColumnExpr("n.id").Limit(limit))
}

// TestUnsoundKey checks that a test fails if the text of a statement depends on more than its key.
func TestUnsoundKey(t *testing.T) {
	CheckTexts = true
	defer func() { CheckTexts = false }()
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		read := func() (cause any) {
			defer func() { cause = recover() }()
			var ids []int64
			if err := Read(ctx, db, unsoundKey{}, &ids); err != nil {
				t.Error(err)
			}
			return nil
		}
		for range 2 {
			if cause := read(); cause != nil {
				t.Errorf("the same text: %v", cause)
			}
		}
		limit++
		if cause := fmt.Sprint(read()); !strings.Contains(cause, "equal keys {} have two texts") {
			t.Errorf("another text: %s, want a panic", cause)
		}
	})
}

// absoluteKey reads the absolute value of argument 0.
type absoluteKey struct{}

func (absoluteKey) Text(b *Builder) (string, error) {
	return b.Raw("SELECT abs(CAST(? AS bigint)) AS n", b.Arg(0))
}

// TestPreparedFails checks that a prepared statement that fails returns the error of the database,
// and can be run again.
func TestPreparedFails(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		type row struct{ N int64 }
		absolute := func(n int64) (numbersErr, rowsErr error) {
			var numbers []int64
			var rows []row
			return Read(ctx, db, absoluteKey{}, &numbers, n), Read(ctx, db, absoluteKey{}, &rows, n)
		}
		for _, n := range []int64{math.MinInt64, 1, math.MinInt64} { // MinInt64 has no absolute value
			numbers, rows := absolute(n)
			for _, err := range []error{numbers, rows} {
				var lite *sqlite.Error
				var pg *pgconn.PgError
				if failed := errors.As(err, &lite) || errors.As(err, &pg) && pg.Code == "22003"; failed != (n < 0) ||
					(err != nil) != failed {
					t.Errorf("abs(%d): %v", n, err)
				}
			}
		}
	})
}
