package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// postgresDialect is the dialect of PostgreSQL. How it opens a database is in
// dialect_postgres_open.go.
type postgresDialect struct {
	pooled bool // a connection pooler in transaction mode is between
}

func (postgresDialect) Engine() Engine { return Postgres }

func (postgresDialect) ForUpdate(q *bun.SelectQuery) *bun.SelectQuery { return q.For("UPDATE") }

func (postgresDialect) ForUpdateSkipLocked(q *bun.SelectQuery) *bun.SelectQuery {
	return q.For("UPDATE SKIP LOCKED")
}

func (postgresDialect) ForShare(q *bun.SelectQuery) *bun.SelectQuery { return q.For("KEY SHARE") }

func (postgresDialect) LockRows(ctx context.Context, tx bun.IDB, table string, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.NewSelect().Table(table).Column("id").Where("id IN (?)", bun.List(ids)).Order("id").For("NO KEY UPDATE").
		Exec(ctx)
	return err
}

func (postgresDialect) LockTable(ctx context.Context, tx bun.IDB, table, mode bun.Safe) error {
	_, err := tx.NewRaw("LOCK TABLE ? IN ? MODE", table, mode).Exec(ctx)
	return err
}

func (postgresDialect) AdvisoryLock(ctx context.Context, tx bun.IDB, key int64) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(?)", key)
	return err
}

func (postgresDialect) OneWriter() bool { return false }

// OneOf selects an array. If many rows were inserted since the last ANALYZE, PostgreSQL may run the
// query in "IN (q)" once for each row of the table: adding up 13,000 downloads took 8 s. It runs a
// query that selects an array only once.
func (postgresDialect) OneOf(q *bun.SelectQuery) schema.QueryAppender {
	return bun.SafeQuery("= ANY(ARRAY(?))", q)
}

func (postgresDialect) InList(n int, ids []int64) (condition bun.Safe, list any) {
	return "= ANY(" + placeholder(n) + ")", ids
}

func (postgresDialect) Day(at bun.Safe) bun.Safe { return "to_char(" + at + ", 'YYYY-MM-DD')" }

func (postgresDialect) JSONFunctions() (array, object bun.Safe) {
	return "json_agg", "json_build_object"
}

func (postgresDialect) Bytewise() bun.Safe { return `COLLATE "C"` }

func (postgresDialect) TakeIDs(ctx context.Context, tx bun.IDB, table string, n int) (ids []int64, err error) {
	if n == 0 {
		return nil, nil
	}
	err = tx.NewRaw("SELECT nextval(pg_get_serial_sequence(?, 'id')) FROM generate_series(1, ?)", table, n).Scan(ctx, &ids)
	return ids, err
}

func (postgresDialect) LastID(ctx context.Context, tx bun.IDB, table string) (last int64, err error) {
	err = tx.NewRaw("SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence(?, 'id')::regclass), 0)", table).
		Scan(ctx, &last)
	return last, err
}

func (postgresDialect) SetLastID(ctx context.Context, tx bun.IDB, table string, last int64) error {
	_, err := tx.NewRaw("SELECT setval(pg_get_serial_sequence(?, 'id'), ?)", table, last).Exec(ctx)
	return err
}

func (postgresDialect) ReserveIDs(ctx context.Context, tx bun.IDB, table string, last int64) error {
	_, err := tx.NewRaw(
		"SELECT setval(s, greatest(?1, pg_sequence_last_value(s))) FROM CAST(pg_get_serial_sequence(?0, 'id') AS regclass) AS s WHERE ?1 > 0", table, last).Exec(ctx)
	return err
}

func (postgresDialect) CommitAsync(ctx context.Context, tx bun.IDB) error {
	_, err := tx.ExecContext(ctx, "SET LOCAL synchronous_commit = off")
	return err
}

func (postgresDialect) EndTimeouts(ctx context.Context, tx bun.IDB) error {
	_, err := tx.ExecContext(ctx, "SET LOCAL statement_timeout = 0")
	return err
}

func (postgresDialect) AddEach(ctx context.Context, tx bun.IDB, table, column string, sums map[int64]int64) error {
	return SetEach(ctx, tx, table, "id", column+" = "+column+" + v.n", "v.n <> 0", sums)
}

func (postgresDialect) HasTable(ctx context.Context, db bun.IDB, table string) (has bool, err error) {
	err = db.NewRaw("SELECT to_regclass(?) IS NOT NULL", table).Scan(ctx, &has)
	return has, err
}

func (postgresDialect) SchemaOf(ctx context.Context, db bun.IDB, table string) (schema string, err error) {
	err = db.NewRaw("SELECT n.nspname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = CAST(? AS regclass)", table).Scan(ctx, &schema)
	return schema, err
}

func (postgresDialect) CheckOwner(context.Context, bun.IDB, string) error { return nil }

func (postgresDialect) HasLateral() bool          { return true }
func (postgresDialect) KeepsJoinOrder() bool      { return false }
func (postgresDialect) ChangesInWith() bool       { return true }
func (postgresDialect) PlansByPages() bool        { return true }
func (postgresDialect) IndexesConcurrently() bool { return true }
func (d postgresDialect) HasSessions() bool       { return !d.pooled }
func (postgresDialect) IsDumped() bool            { return true }

func (postgresDialect) pools(db *DB) map[string]*sql.DB {
	return map[string]*sql.DB{"postgres": db.Write.DB}
}

func (postgresDialect) system() string { return "postgresql" }
func (postgresDialect) isFile() bool   { return false }

func (postgresDialect) checkPrimary(ctx context.Context, db *DB, table string) error {
	// This changes nothing, but a PostgreSQL that is read-only rejects it.
	_, err := db.Write.ExecContext(ctx, "SELECT FROM ? WHERE false FOR SHARE", bun.Safe(table))
	return err
}

func (postgresDialect) snapshot() *sql.TxOptions {
	return &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
}

func (d postgresDialect) export(ctx context.Context, db *DB, _ string, fn func(Exported) error) error {
	return db.Write.RunInTx(ctx, d.snapshot(), func(ctx context.Context, tx bun.Tx) error {
		e := Exported{IDB: tx}
		if err := tx.NewRaw("SELECT pg_export_snapshot()").Scan(ctx, &e.Name); err != nil {
			return fmt.Errorf("export a snapshot: %w", err)
		}
		return fn(e)
	})
}

func (postgresDialect) maxTexts() int { return 1000 }

func (postgresDialect) inList(list schema.QueryAppender) schema.QueryAppender {
	return bun.SafeQuery("= ANY(?)", list)
}

func (postgresDialect) argument(arg any) any { return arg }

// keptMode returns how a connection runs statements whose texts are used repeatedly. Behind a
// connection pooler in transaction mode, a connection keeps only the types of their arguments and
// results. PostgreSQL plans the statement each time.
func (d postgresDialect) keptMode() pgx.QueryExecMode {
	if d.pooled {
		return pgx.QueryExecModeCacheDescribe
	}
	return pgx.QueryExecModeCacheStatement
}

func (d postgresDialect) bind(args []any) []any {
	return append([]any{d.keptMode()}, args...)
}

func (d postgresDialect) driverArgs(keep bool, args []any) ([]driver.NamedValue, error) {
	if keep {
		args = append([]any{d.keptMode()}, args...)
	}
	var values []driver.NamedValue
	for i, arg := range args {
		values = append(values, driver.NamedValue{Ordinal: i + 1, Value: arg})
	}
	return values, nil
}

func (postgresDialect) scanTime(scan schema.ScannerFunc) schema.ScannerFunc { return scan }

func (postgresDialect) selectsRows(bool) bool { return true }

func (postgresDialect) eachParent(list, text string, _ []string) string {
	return fmt.Sprintf("SELECT part.* FROM unnest(CAST(%s AS bigint[])) AS parents (value) CROSS JOIN LATERAL (%s) AS part", list, text)
}

func (postgresDialect) bulkTable(_ *DB, name, columns string) bulkTable {
	return &copiedTable{name: name, columns: columns}
}
