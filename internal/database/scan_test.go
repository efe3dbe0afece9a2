package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/pgtest"
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
		'2026-01-02 01:04:05.678901+00:00' AS at, '2026-01-02 03:04:05+00:00' AS maybe, 7 AS number,
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
		var want []*everyType
		if err := query(&want).Scan(ctx); err != nil {
			t.Fatal(err)
		}
		// PostgreSQL sends the values of prepared statements in another format.
		for name, read := range map[string]func(ctx context.Context, text string, dest any) error{"text": db.selectText,
			"prepared": readText(db)} {
			var got []*everyType
			if err := read(ctx, query(&got).String(), &got); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			compareRows(t, got, want)
			if len(got) != 2 || got[0].Kind != "b" || got[0].Number == nil || got[0].hooked != 1 || got[0].Joined.ID != 4 ||
				got[1].Joined != nil || got[1].Maybe != nil {
				t.Errorf("%s: got rows %s", name, text(t, got))
			}
		}

		values := []everyType{*want[0], *want[0], *want[0]} // the slice is reused
		if err := db.selectText(ctx, query(&values).String(), &values); err != nil {
			t.Fatal(err)
		}
		if len(values) != 2 || values[1].hooked != 1 {
			t.Fatalf("got %d rows, called the hook of the last %d times", len(values), values[1].hooked)
		}
		for i := range values {
			compareRows(t, []*everyType{&values[i]}, want[i:i+1])
		}
		var ids []int64
		err := Read(ctx, db, scalarsKey{}, &ids, []int64{3, 5})
		if err != nil || !reflect.DeepEqual(ids, []int64{5}) {
			t.Errorf("got %v, %v, want [5]", ids, err)
		}
		words := []word{"before"}
		err = readText(db)(ctx, "SELECT 'a' UNION ALL SELECT NULL UNION ALL SELECT 'c'", &words)
		if err != nil || !reflect.DeepEqual(words, []word{"a", "", "c"}) {
			t.Errorf("got %q, %v, want a, an empty string and c", words, err)
		}
	})
}

// textKey is a statement with a text.
type textKey struct{ text string }

func (k textKey) Text(*Builder) (string, error) { return k.text, nil }

func readText(db *DB) func(ctx context.Context, text string, dest any) error {
	return func(ctx context.Context, text string, dest any) error { return Read(ctx, db, textKey{text}, dest) }
}

// scalarsKey reads the numbers among those in argument 0.
type scalarsKey struct{}

func (scalarsKey) Text(b *Builder) (string, error) {
	return b.Text(b.Select().TableExpr("(SELECT 5 AS id UNION ALL SELECT 6) AS n").ColumnExpr("n.id").
		Where("n.id ?", b.InList(0)))
}

// partnersKey reads the partners with the IDs in argument 0.
type partnersKey struct{}

func (partnersKey) Text(b *Builder) (string, error) {
	return b.Text(b.Select().TableExpr("(SELECT 5 AS id, 'e' AS name UNION ALL SELECT 6, 'f') AS n").
		ColumnExpr("n.id, n.name").Where("n.id ?", b.InList(0)))
}

// TestPreparedReadsOtherRows checks that the rows of one prepared statement can be read into
// several types.
func TestPreparedReadsOtherRows(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		read := func(dest any) {
			t.Helper()
			err := Read(ctx, db, partnersKey{}, dest, []int64{5})
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
		if len(partners) != 1 || *partners[0] != (partner{ID: 5, Name: "e"}) || len(turned) != 1 || turned[0].ID != 5 ||
			turned[0].Name != "e" {
			t.Errorf("got %s and %+v", text(t, partners), turned)
		}
	})
}

// timeKey reads a number if a stored time is argument 0.
type timeKey struct{ stored string }

func (k timeKey) Text(b *Builder) (string, error) {
	return b.Raw("SELECT CAST(7 AS bigint) FROM (SELECT ? AS at) AS events WHERE at = ?", bun.Safe(k.stored), b.Arg(0))
}

// TestPreparedStaysPrepared checks that a prepared statement with a time as argument finds the time
// that was written, and that its connection keeps it, but not other statements.
func TestPreparedStaysPrepared(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		at := time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)
		stored := map[Engine]string{SQLite: "'" + SQLiteTime(at) + "'", Postgres: "CAST('" + SQLiteTime(at) +
			"' AS timestamptz)"}[db.Engine]
		const once = "SELECT CAST(8 AS bigint)"
		text := "SELECT CAST(7 AS bigint) FROM (SELECT " + stored + " AS at) AS events WHERE at = $1"
		for range 2 {
			var ids []int64
			err := Read(ctx, db, timeKey{stored}, &ids, at)
			if err != nil || !reflect.DeepEqual(ids, []int64{7}) {
				t.Fatalf("got %v, %v, want [7]", ids, err)
			}
			if err := db.selectText(ctx, once, &ids); err != nil {
				t.Fatal(err)
			}
		}
		conn, err := db.Read.DB.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for text, want := range map[string]int{text: 1, once: 0} {
			n := 0
			if db.Engine == Postgres {
				err = conn.QueryRowContext(ctx, "SELECT count(*) FROM pg_prepared_statements WHERE statement = $1", text).Scan(&n)
			} else {
				err = conn.Raw(func(conn any) error {
					if s, ok := conn.(*keepingConn).kept.Get(text); ok && !s.runs {
						n = 1
					}
					return nil
				})
			}
			if err != nil || n != want {
				t.Errorf("%s: kept %d times, %v, want %d", text, n, err, want)
			}
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

// TestSelectReadsTimes checks that times are read as they were written, in microseconds, and on
// SQLite in UTC.
func TestSelectReadsTimes(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		const second = 1_000_000
		for _, micros := range []int64{0, 1, 10, 123, 999_999, -1, 1_700_000_000 * second, 253402300799*second + 999_999,
			-62135596800 * second} {
			want := time.UnixMicro(micros).UTC()
			declared := map[Engine]string{SQLite: "text", Postgres: "timestamptz"}[db.Engine]
			column := fmt.Sprintf("CAST('%s' AS %s)", SQLiteTime(want), declared)
			text := fmt.Sprintf("SELECT CAST(1 AS bigint) AS id, %s AS at, %[1]s AS maybe, %[1]s AS joined__at", column)
			var once, kept []everyType
			if err := errors.Join(db.selectText(ctx, text, &once), readText(db)(ctx, text, &kept)); err != nil {
				t.Fatalf("%s: %v", want, err)
			}
			for _, row := range append(once, kept...) {
				for i, got := range []time.Time{row.At, *row.Maybe, *row.Joined.At} {
					if !got.Equal(want) || db.Engine == SQLite && got != want {
						t.Errorf("%s: field %d is %v", want, i, got)
					}
				}
			}
		}
	})
}

// TestSelectRefusesOtherValues checks that selectText returns an error that names the column if a
// value does not fit its field.
func TestSelectRefusesOtherValues(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, db *DB) {
		for column, value := range map[string]string{
			"id": "'x'", "small": "0.5", "flag": "'maybe'", "share": "'half'", "at": "'2026-06-31 03:04:05+00:00'",
			"maybe": "'tomorrow'", "number": "'x'", "words": "'{'", "joined__at": "''",
		} {
			if db.Engine == Postgres {
				value = "CAST(" + value + " AS text)"
			}
			var rows []*everyType
			err := db.selectText(ctx, fmt.Sprintf("SELECT %s AS %s", value, column), &rows)
			if err == nil || !strings.Contains(err.Error(), "column "+column) {
				t.Errorf("%s in column %s: got %v", value, column, err)
			}
		}
		var ids []int64
		if err := db.selectText(ctx, "SELECT 1, 2", &ids); err == nil {
			t.Error("two columns for a number: no error")
		}
	})
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

// BenchmarkQuery reads 30 rows with 17 columns, and compares it with Bun. Both prepare the
// statement.
func BenchmarkQuery(b *testing.B) {
	for _, engine := range []Engine{SQLite, Postgres} {
		address := "sqlite:" + filepath.Join(b.TempDir(), "db")
		if engine == Postgres {
			address = pgtest.Database(b)
		}
		db, err := Open(b.Context(), address)
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		text := "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 15) SELECT e.* FROM n CROSS JOIN (" + filled[engine] + ") AS e"
		for name, read := range map[string]func(dest *[]*everyType) error{
			"ours": func(dest *[]*everyType) error { return readText(db)(b.Context(), text, dest) },
			"bun": func(dest *[]*everyType) error {
				return db.Read.NewRaw(text).Conn(Bind(db.Read)).Scan(b.Context(), dest)
			},
		} {
			b.Run(string(engine)+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					var rows []*everyType
					if err := read(&rows); err != nil || len(rows) != 30 {
						b.Fatal(len(rows), err)
					}
				}
			})
		}
	}
}
