package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"
)

// sqliteDialect is the dialect of SQLite. How it opens a database is in dialect_sqlite_open.go.
type sqliteDialect struct{}

func (sqliteDialect) Engine() Engine { return SQLite }

func (sqliteDialect) ForUpdate(q *bun.SelectQuery) *bun.SelectQuery           { return q }
func (sqliteDialect) ForUpdateSkipLocked(q *bun.SelectQuery) *bun.SelectQuery { return q }
func (sqliteDialect) ForShare(q *bun.SelectQuery) *bun.SelectQuery            { return q }

func (sqliteDialect) LockRows(context.Context, bun.IDB, string, []int64) error { return nil }

func (sqliteDialect) LockTable(context.Context, bun.IDB, bun.Safe, bun.Safe) error { return nil }

func (sqliteDialect) AdvisoryLock(context.Context, bun.IDB, int64) error { return nil }

func (sqliteDialect) OneWriter() bool { return true }

func (sqliteDialect) OneOf(q *bun.SelectQuery) schema.QueryAppender {
	return bun.SafeQuery("IN (?)", q)
}

func (sqliteDialect) InList(n int, ids []int64) (condition bun.Safe, list any) {
	return "IN (SELECT value FROM json_each(" + placeholder(n) + "))", AsJSON(ids)
}

func (sqliteDialect) Day(at bun.Safe) bun.Safe { return "substr(" + at + ", 1, 10)" }

func (sqliteDialect) JSONFunctions() (array, object bun.Safe) {
	return "json_group_array", "json_object"
}

func (sqliteDialect) Bytewise() bun.Safe { return "COLLATE BINARY" }

func (sqliteDialect) TakeIDs(ctx context.Context, tx bun.IDB, table string, n int) (ids []int64, err error) {
	if n == 0 {
		return nil, nil
	}
	var last int64
	err = tx.NewRaw("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ? RETURNING seq", n, table).Scan(ctx, &last)
	if errors.Is(err, sql.ErrNoRows) { // the table has not had a row yet
		last = int64(n)
		_, err = tx.NewRaw("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", table, last).Exec(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("take %d ids of %s: %w", n, table, err)
	}
	for id := last - int64(n) + 1; id <= last; id++ {
		ids = append(ids, id)
	}
	return ids, nil
}

func (sqliteDialect) LastID(ctx context.Context, tx bun.IDB, table string) (last int64, err error) {
	err = tx.NewRaw("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)", table).Scan(ctx, &last)
	return last, err
}

func (sqliteDialect) SetLastID(ctx context.Context, tx bun.IDB, table string, last int64) error {
	if _, err := tx.NewRaw("DELETE FROM sqlite_sequence WHERE name = ?", table).Exec(ctx); err != nil {
		return err
	}
	_, err := tx.NewRaw("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", table, last).Exec(ctx)
	return err
}

func (sqliteDialect) ReserveIDs(ctx context.Context, tx bun.IDB, table string, last int64) error {
	// SQLite creates this row with the first row of the table.
	_, err := tx.NewRaw(
		"INSERT INTO sqlite_sequence (name, seq) SELECT ?0, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?0)", table).Exec(ctx)
	if err != nil {
		return err
	}
	_, err = tx.NewRaw("UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = ?0", table, last).Exec(ctx)
	return err
}

func (sqliteDialect) CommitAsync(context.Context, bun.IDB) error { return nil }

func (sqliteDialect) EndTimeouts(context.Context, bun.IDB) error { return nil }

// AddEach stays prepared, because each action that is counted runs it.
func (sqliteDialect) AddEach(ctx context.Context, tx bun.IDB, table, column string, sums map[int64]int64) error {
	_, err := tx.NewRaw(
		"UPDATE ?0 AS x SET ?1 = ?1 + v.value FROM json_each($1) AS v WHERE x.id = CAST(v.key AS integer) AND v.value <> 0",
		bun.Ident(table), bun.Ident(column)).
		Conn(Bind(tx, AsJSON(sums))).Exec(ctx)
	return err
}

func (sqliteDialect) HasTable(ctx context.Context, db bun.IDB, table string) (has bool, err error) {
	err = db.NewRaw("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)", table).Scan(ctx, &has)
	return has, err
}

func (sqliteDialect) SchemaOf(context.Context, bun.IDB, string) (string, error) { return "", nil }

func (sqliteDialect) CheckOwner(ctx context.Context, db bun.IDB, own string) error {
	var table string
	err := db.NewRaw(`SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'
		AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?) ORDER BY name LIMIT 1`, own).Scan(ctx, &table)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("the SQLite database belongs to another program: it has the table %.60q, and none of meshyard",
		table)
}

func (sqliteDialect) HasLateral() bool          { return false }
func (sqliteDialect) KeepsJoinOrder() bool      { return true }
func (sqliteDialect) ChangesInWith() bool       { return false }
func (sqliteDialect) PlansByPages() bool        { return false }
func (sqliteDialect) IndexesConcurrently() bool { return false }
func (sqliteDialect) HasSessions() bool         { return true }
func (sqliteDialect) IsDumped() bool            { return false }

func (sqliteDialect) checkServer(context.Context, *DB) error { return nil }

func (sqliteDialect) limitConnections(*DB, int) {}

func (sqliteDialect) pools(db *DB) map[string]*sql.DB {
	return map[string]*sql.DB{"sqlite_write": db.Write.DB, "sqlite_read": db.Read.DB}
}

func (sqliteDialect) system() string { return "sqlite" }
func (sqliteDialect) isFile() bool   { return true }

func (sqliteDialect) checkPrimary(context.Context, *DB, string) error { return nil }

func (sqliteDialect) snapshot() *sql.TxOptions { return &sql.TxOptions{ReadOnly: true} }

func (d sqliteDialect) export(ctx context.Context, db *DB, file string, fn func(Exported) error) error {
	if err := d.copyTo(ctx, db, file); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	opened, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?mode=ro&immutable=1")
	if err != nil {
		return err
	}
	defer opened.Close()
	return fn(Exported{IDB: bun.NewDB(opened, sqlitedialect.New())})
}

// copyTo writes a copy of the database to an empty file. The copy is consistent, and writers are
// not blocked.
func (sqliteDialect) copyTo(ctx context.Context, db *DB, file string) (err error) {
	conn, err := db.Read.DB.Conn(ctx)
	if err != nil {
		return err
	}
	// VACUUM INTO needs a connection that may write. It is discarded, so that no reader gets it.
	defer func() {
		if discarded := conn.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(discarded, driver.ErrBadConn) {
			err = errors.Join(err, discarded)
		}
	}()
	if _, err := conn.ExecContext(ctx, "PRAGMA query_only = 0"); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "VACUUM INTO ?", file)
	return err
}

// maxTextsSQLite is lower than the maximum for PostgreSQL: each connection keeps the statements
// prepared in the memory of this process.
const maxTextsSQLite = 200

func (sqliteDialect) maxTexts() int { return maxTextsSQLite }

func (sqliteDialect) inList(list schema.QueryAppender) schema.QueryAppender {
	return bun.SafeQuery("IN (SELECT value FROM json_each(?))", list)
}

// argument returns IDs as a JSON array, as among reads them.
func (sqliteDialect) argument(arg any) any {
	if ids, ok := arg.([]int64); ok {
		return AsJSON(ids)
	}
	return arg
}

func (sqliteDialect) bind(args []any) []any {
	for i, arg := range args {
		args[i] = sqliteArg(arg)
	}
	return args
}

func (sqliteDialect) driverArgs(_ bool, args []any) ([]driver.NamedValue, error) {
	var values []driver.NamedValue
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(sqliteArg(arg))
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
		values = append(values, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	return values, nil
}

// sqliteArg returns an argument of a statement with times in the format of SQLiteTime.
func sqliteArg(arg any) any {
	switch at := arg.(type) {
	case time.Time:
		return SQLiteTime(at)
	case *time.Time:
		if at != nil {
			return SQLiteTime(*at)
		}
	}
	return arg
}

// SQLiteTime returns a time in the format in which Bun writes it into SQLite statements. The format
// must be the same everywhere, because SQLite compares times as texts; the driver would use another
// one.
func SQLiteTime(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05.999999-07:00") }

// AsJSON returns values as one argument of a statement of SQLite, which reads them by json_each. So
// its text is the same for any number of them.
func AsJSON(values any) string {
	text, _ := json.Marshal(values) // no error: numbers and texts
	return string(text)
}

// scanTime returns a scanner that sets a field to a time in UTC. SQLite stores times as texts with
// their offset from UTC, for which Bun creates a time zone.
func (sqliteDialect) scanTime(scan schema.ScannerFunc) schema.ScannerFunc {
	return func(field reflect.Value, value any) error {
		if err := scan(field, value); err != nil {
			return err
		}
		at := reflect.Indirect(field).Addr().Interface().(*time.Time)
		*at = at.UTC()
		return nil
	}
}

// selectsRows returns false for one parent, because SQLite is not faster that way.
func (sqliteDialect) selectsRows(several bool) bool { return several }

// eachParent uses that the argument of json_each can refer to the tables before it: SQLite has no
// LATERAL.
func (sqliteDialect) eachParent(list, text string, columns []string) string {
	outer := "SELECT parents.value AS parent"
	var inner []string
	for _, column := range columns {
		if column != "" {
			outer += fmt.Sprintf(", row.value ->> %d AS %s", len(inner), column)
			inner = append(inner, "part."+column)
		}
	}
	return fmt.Sprintf("%s FROM json_each(%s) AS parents, json_each((SELECT json_group_array(json_array(%s)) FROM (%s) AS part)) AS row",
		outer, list, strings.Join(inner, ", "), text)
}

func (sqliteDialect) bulkTable(db *DB, name, columns string) bulkTable {
	return &insertedTable{db: db, name: name, columns: columns}
}
