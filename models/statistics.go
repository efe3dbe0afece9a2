package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
)

// leastRowsSQLite is the minimum number of rows for which the statistics of a table of SQLite
// matter. Without statistics, facets of 2,700 things took 400 ms instead of 16.
const leastRowsSQLite = 500

// staleTable is a table of SQLite with more than twice the rows that it had at the last ANALYZE.
type staleTable struct {
	name       string
	rows, then int64 // then is 0 if there was none
}

// staleTables returns the tables of SQLite with missing or old statistics, of those that lists and
// facets read.
func (db *DB) staleTables(ctx context.Context) (stale []staleTable, err error) {
	known, err := db.Read.NewSelect().Table("sqlite_master").Where("name = 'sqlite_stat1'").Exists(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"things", "files", "thing_tags", "downloads"} {
		t := staleTable{name: name}
		if err := db.Read.NewRaw("SELECT count(*) FROM ?", bun.Ident(name)).Scan(ctx, &t.rows); err != nil {
			return nil, err
		}
		if known {
			if err := db.Read.NewRaw("SELECT coalesce(max(CAST(stat AS integer)), 0) FROM sqlite_stat1 WHERE tbl = ?", name).Scan(ctx, &t.then); err != nil {
				return nil, err
			}
		}
		if t.rows >= leastRowsSQLite && t.then < t.rows/2 {
			stale = append(stale, t)
		}
	}
	return stale, nil
}

// RefreshStatistics collects the statistics of a SQLite database if tables have grown to more than
// twice the rows since the last time. The server calls it every hour. PostgreSQL does this itself.
func (s *Store) RefreshStatistics(ctx context.Context) error {
	if s.db.Engine != database.SQLite {
		return nil
	}
	stale, err := s.db.staleTables(ctx)
	if err != nil || len(stale) == 0 {
		return err
	}
	return s.db.collectStatistics(ctx)
}
