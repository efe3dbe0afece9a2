package database

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTruncateLog checks that the write-ahead log of SQLite is emptied, but not while a reader uses
// it, and that writers then wait for locks as long as before.
func TestTruncateLog(t *testing.T) {
	ctx, file := t.Context(), filepath.Join(t.TempDir(), "a ?.db")
	db, err := Open(ctx, "sqlite:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(statement string) {
		t.Helper()
		if _, err := db.Write.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	truncate := func(limit int64) (size int64) {
		t.Helper()
		if err := db.TruncateLog(ctx, limit); err != nil {
			t.Fatal(err)
		}
		log, err := os.Stat(file + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return log.Size()
	}
	exec("CREATE TABLE a (b INTEGER)")
	reader, err := db.Read.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := reader.QueryRow("SELECT count(*) FROM a").Scan(&n); err != nil {
		t.Fatal(err)
	}
	exec("INSERT INTO a VALUES (1)")
	if size := truncate(0); size == 0 {
		t.Error("the log was truncated while a reader used it")
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if size := truncate(1 << 20); size == 0 {
		t.Error("a short log was truncated")
	}
	if size := truncate(0); size != 0 {
		t.Errorf("the log has %d bytes", size)
	}
	exec("INSERT INTO a VALUES (2)")
	if err := db.Read.NewRaw("SELECT count(*) FROM a").Scan(ctx, &n); n != 2 || err != nil {
		t.Errorf("%d rows, want 2 (%v)", n, err)
	}
	if err := db.Write.NewRaw("PRAGMA busy_timeout").Scan(ctx, &n); n != 10_000 || err != nil {
		t.Errorf("writers wait for %d ms, want 10,000 (%v)", n, err)
	}
}
