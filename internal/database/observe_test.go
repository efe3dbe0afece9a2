package database

import (
	"context"
	"database/sql"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// TestObserver checks that an observer gets each statement with its arguments, in order, whichever
// firstKey reads argument 0.
type firstKey struct{}

func (firstKey) Text(b *Builder) (string, error) {
	return b.Raw("SELECT CAST(? AS bigint) AS first", b.Arg(0))
}

// way it is sent, and which of them are in a transaction.
func TestObserver(t *testing.T) {
	for _, engine := range []Engine{SQLite, Postgres} {
		t.Run(string(engine), func(t *testing.T) {
			address := "sqlite:" + filepath.Join(t.TempDir(), "db")
			if engine == Postgres {
				address = pgtest.Database(t)
			}
			var mu sync.Mutex
			var got []string
			var args [][]any
			conns := make(map[string]any)
			db, err := Open(WithObserver(t.Context(), func(sent Sent) {
				mu.Lock()
				defer mu.Unlock()
				verb, _, _ := strings.Cut(strings.ToLower(sent.Text), " ")
				got, args, conns[verb] = append(got, verb+" "+sent.Text[strings.LastIndex(sent.Text, " ")+1:]),
					append(args, sent.Args), sent.Conn
			}), address)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			mu.Lock()
			got, args = nil, nil // what opened the database
			mu.Unlock()

			ctx := t.Context()
			var numbers []int64
			err = Read(ctx, db, firstKey{}, &numbers, int64(7))
			if err != nil || !reflect.DeepEqual(numbers, []int64{7}) {
				t.Fatalf("got %v, %v, want 7", numbers, err)
			}
			if err := db.Read.NewSelect().ColumnExpr("2 AS second").Scan(ctx, new(int)); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Write.ExecContext(ctx, "CREATE TABLE third (n bigint, name text)"); err != nil {
				t.Fatal(err)
			}
			err = db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
				_, err := Bind(tx, int64(8), "eight").ExecContext(ctx, "INSERT INTO third VALUES ($1, $2)")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			tx, err := db.Write.BeginTx(ctx, new(sql.TxOptions))
			if err == nil {
				err = tx.Rollback()
			}
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"select first", `select second`, "create text)", "begin begin", "insert $2)", "commit commit",
				"begin begin", "rollback rollback"}
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], `"`, "")
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("got %q, want %q", got, want)
			}
			if !reflect.DeepEqual(args[0], []any{int64(7)}) || !reflect.DeepEqual(args[4], []any{int64(8), "eight"}) ||
				len(args[1])+len(args[3]) > 0 {
				t.Errorf("got the arguments %v", args)
			}
			if conns["insert"] != conns["commit"] {
				t.Error("the connection of a transaction differs")
			}
			if engine == SQLite && conns["select"] == conns["insert"] {
				t.Error("reads and transactions have the same connection")
			}
		})
	}
}
