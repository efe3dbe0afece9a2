package pgtest_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/meshyard/meshyard/internal/pgtest"
)

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatalf("connect to %s: %v", address, err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func exec(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestDatabaseIsSeparate(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"one", "other"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := connect(t, pgtest.Database(t))
			// fails if the table of the other database is visible
			exec(t, conn, "CREATE TABLE thing (id int)")
			var encoding string
			if err := conn.QueryRow(t.Context(), "SHOW server_encoding").Scan(&encoding); err != nil || encoding != "UTF8" {
				t.Errorf("encoding is %q (error %v), want UTF8", encoding, err)
			}
		})
	}
}

func TestDatabaseIsDropped(t *testing.T) {
	t.Parallel()
	var address string
	ok := t.Run("test", func(t *testing.T) {
		address = pgtest.Database(t)
		// This connection stays open: it must not prevent the database from being dropped.
		if _, err := pgx.Connect(t.Context(), address); err != nil {
			t.Fatal(err)
		}
	})
	if !ok {
		return
	}
	_, err := pgx.Connect(t.Context(), address)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "3D000" { // invalid_catalog_name
		t.Errorf("connecting to a test's database after the test: got %v, want that it does not exist", err)
	}
}

var fills atomic.Int64

var things = pgtest.NewTemplate(func(address string) error {
	fills.Add(1)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, address) // stays open: it must not make copies fail
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE TABLE thing (id int); INSERT INTO thing VALUES (42)")
	return err
})

func TestTemplate(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "b", "c", "d"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := connect(t, things.Database(t))
			var id int
			if err := conn.QueryRow(t.Context(), "SELECT id FROM thing").Scan(&id); err != nil || id != 42 {
				t.Errorf("the copy's row is %d (error %v), want 42", id, err)
			}
			exec(t, conn, "DELETE FROM thing")
			if n := fills.Load(); n != 1 {
				t.Errorf("the template was filled %d times, want once", n)
			}
		})
	}
}

func TestStart(t *testing.T) {
	t.Setenv(pgtest.Variable, "") // a private server, also where the other tests share one
	address, stop, err := pgtest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	conn := connect(t, address)
	var version string
	if err := conn.QueryRow(t.Context(), "SELECT version()").Scan(&version); err != nil ||
		!strings.HasPrefix(version, "PostgreSQL ") {
		t.Errorf("version is %q (error %v), want PostgreSQL …", version, err)
	}
	stop()
	if _, err := pgx.Connect(t.Context(), address); err == nil {
		t.Error("the server still responds after stop")
	}
}

func TestStartOfEnvironment(t *testing.T) {
	const want = "postgres://somebody@somewhere/db"
	t.Setenv(pgtest.Variable, want)
	address, stop, err := pgtest.Start(t.Context())
	if err != nil || address != want {
		t.Fatalf("address is %q (error %v), want %q", address, err, want)
	}
	stop()
}

func TestStartIsAbandoned(t *testing.T) {
	t.Setenv(pgtest.Variable, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := pgtest.Start(ctx); err == nil {
		t.Error("a start with a canceled context succeeded")
	}
}

func BenchmarkDatabase(b *testing.B) {
	pgtest.Database(b) // starts the server
	for b.Loop() {
		pgtest.Database(b)
	}
}

// BenchmarkTemplate is to be compared with BenchmarkDatabase plus the cost of what the template
// contains.
func BenchmarkTemplate(b *testing.B) {
	things.Database(b) // fills the template
	for b.Loop() {
		things.Database(b)
	}
}

func BenchmarkStart(b *testing.B) {
	b.Setenv(pgtest.Variable, "")
	for b.Loop() {
		_, stop, err := pgtest.Start(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		stop()
		b.StartTimer()
	}
}
