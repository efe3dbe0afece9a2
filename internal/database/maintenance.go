package database

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
)

// LeastRows is the minimum number of rows for which the statistics of a table of PostgreSQL matter.
const LeastRows = 10_000

// LeastRowsSQLite is the minimum number of rows for which the statistics of a table of SQLite
// matter. Without statistics, facets of 2,700 things took 400 ms instead of 16.
const LeastRowsSQLite = 500

// Tables are the tables that need maintenance.
type Tables struct {
	// Analyzed are tables whose statistics the planner needs.
	Analyzed []string
	// Large are tables that may get many rows.
	Large []string
	// Queues are tables whose rows are deleted after a few seconds. After a burst, they have many dead
	// tuples until autovacuum runs, and their statistics do not matter.
	Queues []string
	// OnePlan are tables whose statements need the same plan for all values.
	OnePlan []string
}

// Analyze collects the statistics that the planner needs after many rows were inserted. On
// PostgreSQL, it also sets the visibility map for index-only scans, and removes the deleted rows of
// queues, which lists would pass until autovacuum runs.
func (db *DB) Analyze(ctx context.Context, t Tables) error { return db.analyze(ctx, db, t) }

// Diagnose returns problems of the tables, each with its remedy: missing or old statistics, space
// of deleted rows, and too few connections.
func (db *DB) Diagnose(ctx context.Context, t Tables) (findings []string, err error) {
	return db.diagnose(ctx, db, t)
}

// Refresh collects the statistics of a SQLite database if tables have grown to more than twice the
// rows since the last time. PostgreSQL does this itself.
func (db *DB) Refresh(ctx context.Context, t Tables) error { return db.refresh(ctx, db, t) }

func (postgresDialect) analyze(ctx context.Context, db *DB, t Tables) error {
	for _, tables := range [][]string{t.Analyzed, t.Queues} {
		for _, table := range tables {
			if _, err := db.Write.ExecContext(ctx, "VACUUM (ANALYZE) "+table); err != nil {
				return err
			}
		}
	}
	return nil
}

func (sqliteDialect) analyze(ctx context.Context, db *DB, t Tables) error {
	if _, err := db.Write.ExecContext(ctx, "ANALYZE"); err != nil {
		return err
	}
	// With samples of a table, SQLite prepares a statement again each time another value is bound to
	// it, to choose a plan for that value. The shadow tables are those inside full-text indexes.
	if _, err := db.Write.ExecContext(ctx,
		"DELETE FROM sqlite_stat4 WHERE tbl IN (?) OR tbl IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')",
		bun.List(t.OnePlan)); err != nil {
		return err
	}
	// A connection reads the statistics together with the schema, so other connections, also those of
	// a running server, only notice them when the schema changes.
	_, err := db.Write.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS statistics_changed (n); DROP TABLE statistics_changed")
	return err
}

func (postgresDialect) diagnose(ctx context.Context, db *DB, t Tables) (findings []string, err error) {
	var tables []struct {
		Name                 string
		Live, Dead, Modified int64
		Analyzed, AutoVacuum bool
	}
	err = db.Read.NewRaw(`SELECT relname AS name, n_live_tup AS live, n_dead_tup AS dead, n_mod_since_analyze AS modified,
		coalesce(last_analyze, last_autoanalyze) IS NOT NULL AS analyzed,
			current_setting('autovacuum')::boolean AS auto_vacuum
		FROM pg_stat_user_tables WHERE schemaname = current_schema() AND relname NOT IN (?) ORDER BY relname`, bun.List(t.Queues)).Scan(ctx, &tables)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		switch {
		case t.Live+t.Dead < LeastRows:
		case !t.Analyzed || t.Modified > t.Live/5:
			findings = append(findings, fmt.Sprintf("%s: %d rows changed since the last ANALYZE: ANALYZE %s", t.Name, t.Modified,
				t.Name))
		case t.Dead > t.Live/4:
			findings = append(findings, fmt.Sprintf("%s: %d dead rows, %d live rows: VACUUM %s", t.Name, t.Dead, t.Live, t.Name))
		}
	}
	if len(tables) > 0 && !tables[0].AutoVacuum {
		findings = append(findings, "autovacuum is off: enable it, or run VACUUM (ANALYZE) daily")
	}
	var allowed int
	err = db.Read.NewRaw(`SELECT least(current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
		nullif(rolconnlimit, -1), (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()))
		FROM pg_roles WHERE rolname = current_user`).Scan(ctx, &allowed)
	if err != nil {
		return nil, err
	}
	if limit := db.SQL().Stats().MaxOpenConnections; limit > allowed {
		findings = append(findings,
			fmt.Sprintf("PostgreSQL accepts %d connections, and one server may open %d: lower --database-connections, or raise max_connections or the limit of the role or the database", allowed, limit))
	}
	return findings, nil
}

func (d sqliteDialect) diagnose(ctx context.Context, db *DB, t Tables) (findings []string, err error) {
	var pages, free int64
	if err := db.Read.NewRaw("SELECT page_count, freelist_count FROM pragma_page_count(), pragma_freelist_count()").
		Scan(ctx, &pages, &free); err != nil {
		return nil, err
	}
	if free > 10_000 && free > pages/4 {
		findings = append(findings, fmt.Sprintf("%d of %d pages are empty: VACUUM frees their space", free, pages))
	}
	stale, err := d.staleTables(ctx, db, t)
	if err != nil {
		return nil, err
	}
	for _, t := range stale {
		findings = append(findings,
			fmt.Sprintf("%s: has %d rows, and had %d at the last ANALYZE: a running server runs it within an hour", t.name,
				t.rows, t.then))
	}
	return findings, nil
}

// staleTable is a table of SQLite with more than twice the rows that it had at the last ANALYZE.
type staleTable struct {
	name       string
	rows, then int64 // then is 0 if there was none
}

// staleTables returns the large tables with missing or old statistics.
func (sqliteDialect) staleTables(ctx context.Context, db *DB, t Tables) (stale []staleTable, err error) {
	known, err := db.Read.NewSelect().Table("sqlite_master").Where("name = 'sqlite_stat1'").Exists(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range t.Large {
		t := staleTable{name: name}
		if err := db.Read.NewRaw("SELECT count(*) FROM ?", bun.Ident(name)).Scan(ctx, &t.rows); err != nil {
			return nil, err
		}
		if known {
			if err := db.Read.NewRaw("SELECT coalesce(max(CAST(stat AS integer)), 0) FROM sqlite_stat1 WHERE tbl = ?", name).
				Scan(ctx, &t.then); err != nil {
				return nil, err
			}
		}
		if t.rows >= LeastRowsSQLite && t.then < t.rows/2 {
			stale = append(stale, t)
		}
	}
	return stale, nil
}

func (d sqliteDialect) refresh(ctx context.Context, db *DB, t Tables) error {
	stale, err := d.staleTables(ctx, db, t)
	if err != nil || len(stale) == 0 {
		return err
	}
	return d.analyze(ctx, db, t)
}

// refresh does nothing, because autovacuum does it.
func (postgresDialect) refresh(context.Context, *DB, Tables) error { return nil }
