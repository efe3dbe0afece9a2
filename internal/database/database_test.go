package database

import (
	"context"
	"strings"
	"testing"

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
