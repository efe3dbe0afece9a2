package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

type word string

// everyType has a field for each way of reading a value.
type everyType struct {
	bun.BaseModel `bun:"table:every_type,alias:e"`
	Listed

	ID       int64
	Name     string
	Kind     word
	Small    int32
	Flag     bool
	Share    float64
	At       time.Time
	Maybe    *time.Time
	Number   *int64
	Text     *string
	Bytes    []byte
	Words    []string `bun:"type:jsonb"`
	Computed int64    `bun:",scanonly"`

	Joined *partner `bun:",scanonly"`

	hooked int
}

// partner is a row of another table.
type partner struct {
	ID   int64
	Name string
	At   *time.Time
}

func (e *everyType) AfterScanRow(context.Context) error {
	e.hooked++
	return nil
}

// filled is a query that selects a row without NULL, and then a row with NULL in all columns except
// the ID.
var filled = map[Engine]string{
	Postgres: `SELECT 1::bigint AS id, 'a'::text AS name, 'b'::varchar(9) AS kind, 2::int AS small, true AS flag, 0.5::double precision AS share,
		'2026-01-02 03:04:05.678901+02'::timestamptz AS at, '2026-01-02 03:04:05Z'::timestamptz AS maybe, 7::bigint AS number,
		't'::text AS text, '\x0102'::bytea AS bytes, '["x","y"]'::jsonb AS words, 3::bigint AS computed, 9::bigint AS list_parent,
		4::bigint AS joined__id, NULL::text AS joined__name, '2026-01-02Z'::timestamptz AS joined__at
		UNION ALL SELECT 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL`,
	SQLite: `SELECT 1 AS id, 'a' AS name, 'b' AS kind, 2 AS small, true AS flag, 0.5 AS share,
		'2026-01-02 03:04:05.678901+02:00' AS at, '2026-01-02 03:04:05+00:00' AS maybe, 7 AS number,
		't' AS text, x'0102' AS bytes, '["x","y"]' AS words, 3 AS computed, 9 AS list_parent,
		4 AS joined__id, NULL AS joined__name, '2026-01-02 00:00:00+00:00' AS joined__at
		UNION ALL SELECT 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL`,
}

// TestSelectReadsWhatBunReads checks that selectText returns the same values as Bun.
func TestSelectReadsWhatBunReads(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		query := func(rows any) *bun.SelectQuery {
			return db.Read.NewSelect().Model(rows).ModelTableExpr("(?) AS e", bun.Safe(filled[db.Engine])).
				ColumnExpr("*").Order("e.id")
		}
		var want, got []*everyType
		if err := query(&want).Scan(ctx); err != nil {
			t.Fatal(err)
		}
		if err := db.selectText(ctx, query(&got).String(), &got); err != nil {
			t.Fatal(err)
		}
		compareRows(t, got, want)
		if len(got) != 2 || got[0].Kind != "b" || got[0].Number == nil || got[0].hooked != 1 || got[0].Joined.ID != 4 || got[1].Joined != nil || got[1].Maybe != nil {
			t.Errorf("got rows %s", text(t, got))
		}

		var values []everyType // the second query reuses the slice
		for range 2 {
			if err := db.selectText(ctx, query(&values).String(), &values); err != nil {
				t.Fatal(err)
			}
		}
		for i := range values {
			compareRows(t, []*everyType{&values[i]}, want[i:i+1])
		}
		var ids []int64
		err := db.ForIDs(ctx, "test of scalars", []int64{3, 5}, &ids, func(among, _ schema.QueryAppender) *bun.SelectQuery {
			return db.Read.NewSelect().TableExpr("(SELECT 5 AS id UNION ALL SELECT 6) AS n").ColumnExpr("n.id").Where("n.id ?", among)
		})
		if err != nil || !reflect.DeepEqual(ids, []int64{5}) {
			t.Errorf("got %v, %v, want [5]", ids, err)
		}
	})
}

// TestPreparedReadsOtherRows checks that the cached row reader of a statement is not used for rows
// of another type.
func TestPreparedReadsOtherRows(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		read := func(dest any) {
			t.Helper()
			err := db.ForIDs(ctx, "test of partners", []int64{5}, dest, func(among, _ schema.QueryAppender) *bun.SelectQuery {
				return db.Read.NewSelect().TableExpr("(SELECT 5 AS id, 'e' AS name UNION ALL SELECT 6, 'f') AS n").ColumnExpr("n.id, n.name").Where("n.id ?", among)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		var partners []*partner
		var turned []struct {
			Name string
			ID   int32
		}
		for range 2 {
			read(&partners)
			read(&turned)
		}
		if len(partners) != 1 || *partners[0] != (partner{ID: 5, Name: "e"}) || len(turned) != 1 || turned[0].ID != 5 || turned[0].Name != "e" {
			t.Errorf("got %s and %+v", text(t, partners), turned)
		}
	})
}

// TestSelectRefusesUnknownColumns checks that selectText returns an error if a column has no field.
func TestSelectRefusesUnknownColumns(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		var rows []everyType
		q := db.Read.NewSelect().Model(&rows).ModelTableExpr("(SELECT 1 AS id, 2 AS nowhere) AS e").ColumnExpr("*")
		if err := db.selectText(ctx, q.String(), &rows); err == nil {
			t.Error("no error")
		}
	})
}

// TestSelectAfterLostConnections checks that no query fails after the database server has closed
// idle connections of the pool.
func TestSelectAfterLostConnections(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		if db.Engine != Postgres {
			return // it has no server
		}
		var ids []int64
		one := func() error { return db.selectText(ctx, "SELECT 1::bigint", &ids) }
		var conns [4]*sql.Conn
		for i := range conns {
			var err error
			if conns[i], err = db.SQL().Conn(ctx); err != nil {
				t.Fatal(err)
			}
		}
		const end = "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
		var ended int
		if err := conns[0].QueryRowContext(ctx, end).Scan(&ended); err != nil {
			t.Fatal(err)
		}
		if want := len(conns) - 1; ended < want {
			t.Errorf("ended %d connections, want %d or more", ended, want)
		}
		for _, conn := range conns {
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 {
			if err := one(); err != nil {
				t.Errorf("after the connections were lost: %v", err)
			}
		}
	})
}

// TestSelectEndsWithItsContext checks that a query ends when its context ends, before its first row
// and between rows, and that its connection can be used afterwards.
func TestSelectEndsWithItsContext(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		numbers := "WITH RECURSIVE n (id) AS (SELECT CAST(1 AS bigint) UNION ALL SELECT id + 1 FROM n WHERE id < 1000000000) "
		for _, text := range []string{numbers + "SELECT id FROM n WHERE id < 0", numbers + "SELECT id FROM n"} {
			short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			var ids []int64
			err := db.selectText(short, text, &ids)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %d rows, %v, want DeadlineExceeded", text, len(ids), err)
			}
			if err := db.selectText(ctx, "SELECT CAST(1 AS bigint)", &ids); err != nil || !reflect.DeepEqual(ids, []int64{1}) {
				t.Errorf("after %s: got %v, %v, want [1]", text, ids, err)
			}
		}
	})
}

// TestParseSQLiteTime compares parseSQLiteTime with SQLiteTime and time.Parse.
func TestParseSQLiteTime(t *testing.T) {
	const second = 1_000_000
	for _, micros := range []int64{0, 1, 10, 123, 999_999, -1, 1_700_000_000 * second, 253402300799*second + 999_999, -62135596800 * second} {
		want := time.UnixMicro(micros).UTC()
		if got, ok := parseSQLiteTime(SQLiteTime(want)); !ok || got != want {
			t.Errorf("%s: got %v, %t", SQLiteTime(want), got, ok)
		}
	}
	for _, other := range []any{
		nil, int64(3), "", "+00:00", "2026-01-02 03:04:05", "2026-01-02T03:04:05+00:00", "2026-01-02 03:04:05+02:00", "2026-01-02 03:04:05.+00:00",
		"2026-01-02 03:04:05.1234567+00:00", "2026-01-02 03:04+00:00", "2026-06-31 03:04:05+00:00", "2026-13-01 03:04:05+00:00",
		"2026-00-01 03:04:05+00:00", "2026-01-00 03:04:05+00:00", "2026-01-02 24:00:00+00:00", "2026-01-02 03:60:05+00:00", "2026-01-02 03:04:60+00:00",
		"2026-01-02 03:04:-5+00:00", "2026-01-02 03:04:05.12x+00:00",
	} {
		if got, ok := parseSQLiteTime(other); ok {
			t.Errorf("%v: got %v, want no time", other, got)
		}
	}
}

func compareRows(t *testing.T, got, want []*everyType) {
	t.Helper()
	if text(t, got) != text(t, want) {
		t.Errorf("got rows %s\nwant %s", text(t, got), text(t, want))
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
