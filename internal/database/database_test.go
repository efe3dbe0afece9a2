package database

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// TestEncoding checks that a PostgreSQL database is only opened with the encoding UTF8.
func TestEncoding(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"SQL_ASCII", "LATIN1", "UTF8"} {
		db, err := Open(t.Context(), pgtest.Encoded(t, encoding))
		if err == nil {
			err = db.Close()
		}
		if says := "has the encoding " + encoding + " and must have UTF8"; encoding == "UTF8" && err != nil ||
			encoding != "UTF8" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: got %v", encoding, err)
		}
	}
}

// TestSettingsOfDatabase checks that settings of a PostgreSQL database cannot change the meaning of
// statements or of values.
func TestSettingsOfDatabase(t *testing.T) {
	t.Parallel()
	ctx, address := t.Context(), pgtest.Encoded(t, "UTF8")
	db, err := Open(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	var name string
	if err := db.Read.NewRaw("SELECT current_database()").Scan(ctx, &name); err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{
		"standard_conforming_strings = off", "client_encoding = 'LATIN1'", "DateStyle = 'German'",
		"bytea_output = 'escape'", "TimeZone = 'Asia/Tokyo'", "extra_float_digits = -10",
		"default_transaction_isolation = 'serializable'",
	} {
		if _, err := db.Write.NewRaw("ALTER DATABASE ? SET ?", bun.Ident(name), bun.Safe(setting)).Exec(ctx); err != nil {
			t.Fatalf("%s: %v", setting, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(ctx, address); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	type row struct {
		Text   string
		Length int
		Bytes  []byte
		At     time.Time
		Float  float64
	}
	want := row{`\' OR 1 = 1 -- \\ möbel 🛋`, 25, []byte{0, 1, '\\', 255}, time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC),
		0.30000000000000004}
	var got row
	err = db.Read.NewRaw(
		"SELECT ?0 AS text, length(?0) AS length, ?1::bytea AS bytes, ?2::timestamptz AS at, ?3::float8 AS float", want.Text,
		want.Bytes, want.At, want.Float).Scan(ctx, &got)
	if err != nil || !got.At.Equal(want.At) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got.At = want.At; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	level := func(db bun.IDB) (level string) {
		if err := db.NewRaw("SHOW transaction_isolation").Scan(ctx, &level); err != nil {
			t.Error(err)
		}
		return level
	}
	err = db.InTx(ctx, func(_ context.Context, tx bun.Tx) error {
		if within, outside := level(tx), level(db.Read); within != "read committed" || outside != "read committed" {
			t.Errorf("the isolation level is %s within transactions and %s outside, want read committed", within, outside)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestSerializationFailure checks that a transaction that PostgreSQL aborts with a serialization
// failure runs again, but not forever.
func TestSerializationFailure(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db, err := Open(ctx, pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.SQL().ExecContext(ctx, "CREATE TABLE counter AS SELECT 0 AS n"); err != nil {
		t.Fatal(err)
	}
	// increment increments the counter in a snapshot. In its first attempts, another connection
	// increments the counter after the snapshot.
	increment := func(conflicts int) (ran int, err error) {
		return ran, db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			ran++
			if _, err := tx.ExecContext(ctx,
				"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT n FROM counter"); err != nil {
				return err
			}
			if ran <= conflicts {
				if _, err := db.SQL().ExecContext(ctx, "UPDATE counter SET n = n + 1"); err != nil {
					return err
				}
			}
			_, err := tx.ExecContext(ctx, "UPDATE counter SET n = n + 1")
			return err
		})
	}
	if ran, err := increment(2); err != nil || ran != 3 {
		t.Errorf("two conflicts: got %d attempts, %v, want 3", ran, err)
	}
	if ran, err := increment(attempts); err == nil || !isConflict(err) || ran != attempts {
		t.Errorf("only conflicts: got %d attempts, %v, want %d and the failure", ran, err, attempts)
	}
	var n int
	if err := db.Read.NewRaw("SELECT n FROM counter").Scan(ctx, &n); err != nil || n != 2+1+attempts {
		t.Errorf("got %d, %v, want %d", n, err, 2+1+attempts)
	}
}

// TestOneOfSelectsOnce checks that the values of OneOf are selected once for all rows of the table,
// even if most rows were inserted after PostgreSQL collected its statistics.
func TestOneOfSelectsOnce(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		const numbers = "INSERT INTO burst (id, done) WITH RECURSIVE n (i) AS (SELECT ?0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT i, i < 1000 FROM n"
		for _, statement := range []struct {
			text     string
			from, to int
		}{
			{text: "CREATE TABLE burst (id bigint PRIMARY KEY, done boolean NOT NULL)"},
			{text: "CREATE INDEX burst_left ON burst (id) WHERE NOT done"},
			{numbers, 0, 999},
			{text: "ANALYZE burst"},
			{numbers, 1000, 3999},
		} {
			if _, err := db.Write.NewRaw(statement.text, statement.from, statement.to).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		some := db.Write.NewSelect().Table("burst").Column("id").Where("NOT done").Order("id").Limit(500)
		q := db.Write.NewSelect().Table("burst").ColumnExpr("count(*)").Where("id ? AND NOT done", db.OneOf(some))
		var n int
		if err := q.Scan(ctx, &n); err != nil || n != 500 {
			t.Fatalf("got %d, %v, want 500", n, err)
		}
		if db.Engine != Postgres {
			return
		}
		var plan []string
		if err := db.Write.NewRaw("EXPLAIN (ANALYZE, TIMING OFF) ?", q).Scan(ctx, &plan); err != nil {
			t.Fatal(err)
		}
		for _, line := range plan {
			if strings.Contains(line, "loops=") && !strings.Contains(line, "loops=1)") {
				t.Errorf("a part of the plan runs more than once:\n%s", strings.Join(plan, "\n"))
				break
			}
		}
	})
}
