package models

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
)

// Diagnose returns maintenance problems of the database, each with its remedy: missing or old
// statistics, space of deleted rows, too few connections, unfinished work, and postponed previews.
// It returns none if there are no problems.
func (s *Store) Diagnose(ctx context.Context) (findings []string, err error) {
	var imports []importRow
	if err := s.db.Read.NewSelect().Model(&imports).Scan(ctx); err != nil {
		return nil, err
	}
	for _, im := range imports {
		finding := fmt.Sprintf("an import of %s stopped after %d things: run it again", im.Source, im.Done)
		if im.Later != "" {
			finding += "; until it is complete, indexes are missing"
		}
		findings = append(findings, finding)
	}
	archives, err := s.db.Read.NewSelect().Model((*archiveImport)(nil)).Where("noun <> ?", accountNoun).Count(ctx)
	if err != nil {
		return nil, err
	}
	if archives > 0 {
		findings = append(findings, "an import of an archive stopped: run it again")
	}
	for _, waiting := range []struct{ table, what string }{{"count_changes", "changes of counts"}, {"new_downloads", "downloads"}} {
		n, err := s.db.Read.NewSelect().Table(waiting.table).Count(ctx)
		if err != nil {
			return nil, err
		}
		if n > 20*foldBatch {
			findings = append(findings, fmt.Sprintf("%d %s are not folded: a running server folds them every few seconds", n, waiting.what))
		}
	}
	postponed, err := s.diagnosePreviews(ctx)
	if err != nil {
		return nil, err
	}
	findings = append(findings, postponed...)
	var more []string
	if s.db.Engine == database.Postgres {
		more, err = s.diagnosePostgres(ctx)
	} else {
		more, err = s.diagnoseSQLite(ctx)
	}
	return append(findings, more...), err
}

// leastRows is the minimum number of rows for which the statistics of a table of PostgreSQL matter.
const leastRows = 10_000

// queues are tables whose rows are deleted after a few seconds. After a burst, they have many dead
// tuples until autovacuum runs, and their statistics do not matter.
var queues = []string{"count_changes", "new_downloads", "unranked_things"}

func (s *Store) diagnosePostgres(ctx context.Context) (findings []string, err error) {
	var tables []struct {
		Name                 string
		Live, Dead, Modified int64
		Analyzed, AutoVacuum bool
	}
	err = s.db.Read.NewRaw(`SELECT relname AS name, n_live_tup AS live, n_dead_tup AS dead, n_mod_since_analyze AS modified,
		coalesce(last_analyze, last_autoanalyze) IS NOT NULL AS analyzed, current_setting('autovacuum')::boolean AS auto_vacuum
		FROM pg_stat_user_tables WHERE schemaname = current_schema() AND relname NOT IN (?) ORDER BY relname`, bun.List(queues)).Scan(ctx, &tables)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		switch {
		case t.Live+t.Dead < leastRows:
		case !t.Analyzed || t.Modified > t.Live/5:
			findings = append(findings, fmt.Sprintf("%s: %d rows changed since the last ANALYZE: ANALYZE %s", t.Name, t.Modified, t.Name))
		case t.Dead > t.Live/4:
			findings = append(findings, fmt.Sprintf("%s: %d dead rows, %d live rows: VACUUM %s", t.Name, t.Dead, t.Live, t.Name))
		}
	}
	if len(tables) > 0 && !tables[0].AutoVacuum {
		findings = append(findings, "autovacuum is off: enable it, or run VACUUM (ANALYZE) daily")
	}
	var allowed int
	err = s.db.Read.NewRaw(`SELECT least(current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
		nullif(rolconnlimit, -1), (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()))
		FROM pg_roles WHERE rolname = current_user`).Scan(ctx, &allowed)
	if err != nil {
		return nil, err
	}
	if limit := s.db.SQL().Stats().MaxOpenConnections; limit > allowed {
		findings = append(findings, fmt.Sprintf("PostgreSQL accepts %d connections, and one server may open %d: lower --database-connections, or raise max_connections or the limit of the role or the database", allowed, limit))
	}
	return findings, nil
}

func (s *Store) diagnoseSQLite(ctx context.Context) (findings []string, err error) {
	var pages, free int64
	if err := s.db.Read.NewRaw("SELECT page_count, freelist_count FROM pragma_page_count(), pragma_freelist_count()").Scan(ctx, &pages, &free); err != nil {
		return nil, err
	}
	if free > 10_000 && free > pages/4 {
		findings = append(findings, fmt.Sprintf("%d of %d pages are empty: VACUUM frees their space", free, pages))
	}
	stale, err := s.db.staleTables(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range stale {
		findings = append(findings, fmt.Sprintf("%s: has %d rows, and had %d at the last ANALYZE: a running server runs it within an hour", t.name, t.rows, t.then))
	}
	return findings, nil
}
