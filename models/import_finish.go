package models

import (
	"context"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
)

// importedTables are the tables that an import fills.
var importedTables = bun.List([]string{"users", "things", "thing_tags", "files", "imported_counts", "thing_documents", "user_documents", "vocabulary"})

// strip drops the indexes and references of the tables that a large import fills, if they have few
// rows yet, and returns the statements that create them again: creating them once over all rows
// costs a fraction of updating them row by row. Constraints for unique IDs and names stay.
func (l *loader) strip(ctx context.Context, tx bun.Tx) ([]string, error) {
	if l.db.Engine != database.Postgres || l.Total < 10*importBatch {
		return nil, nil
	}
	there, err := tx.NewSelect().Table("things").Count(ctx)
	if err != nil || there > int64(l.Total/10) {
		return nil, err
	}
	var parts []struct{ Without, Later string }
	err = tx.NewRaw(`
		SELECT 'DROP INDEX ' || i.indexrelid::regclass AS without, pg_get_indexdef(i.indexrelid) AS later
			FROM pg_index AS i WHERE NOT i.indisunique AND i.indrelid IN (SELECT ('' || t)::regclass FROM unnest(ARRAY[?0]) AS t)
		UNION ALL SELECT 'ALTER TABLE ' || c.conrelid::regclass || ' DROP CONSTRAINT ' || quote_ident(c.conname),
			'ALTER TABLE ' || c.conrelid::regclass || ' ADD CONSTRAINT ' || quote_ident(c.conname) || ' ' || pg_get_constraintdef(c.oid)
			FROM pg_constraint AS c WHERE c.contype = 'f' AND c.conrelid IN (SELECT ('' || t)::regclass FROM unnest(ARRAY[?0]) AS t)
		ORDER BY later DESC`, importedTables).Scan(ctx, &parts)
	if err != nil {
		return nil, err
	}
	later := make([]string, len(parts))
	for i, p := range parts {
		later[i] = p.Later
		if _, err := tx.ExecContext(ctx, p.Without); err != nil {
			return nil, err
		}
	}
	return later, nil
}

// finish creates again what strip dropped, updates counts and deletes the import record, in one
// transaction.
func (l *loader) finish(ctx context.Context) error {
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		row := &importRow{Source: l.Source}
		if err := tx.NewSelect().Model(row).WherePK().Scan(ctx); err != nil {
			return err
		}
		if l.db.Engine == database.Postgres {
			for _, statement := range append([]string{"SET LOCAL maintenance_work_mem = '256MB'"}, strings.FieldsFunc(row.Later, func(r rune) bool { return r == '\n' })...) {
				if _, err := tx.ExecContext(ctx, statement); err != nil {
					return err
				}
			}
		}
		if err := l.settle(ctx, tx); err != nil {
			return err
		}
		_, err := tx.NewDelete().Model(row).WherePK().Exec(ctx)
		return err
	})
	if err != nil {
		return err
	}
	// The planner needs current statistics and, on PostgreSQL, the visibility map for index-only
	// scans.
	tidy := []string{"ANALYZE"}
	if l.db.Engine == database.Postgres {
		tidy = []string{"VACUUM (ANALYZE) things", "VACUUM (ANALYZE) files", "VACUUM (ANALYZE) thing_tags", "VACUUM (ANALYZE) thing_documents", "VACUUM (ANALYZE) vocabulary", "VACUUM (ANALYZE) users", "VACUUM (ANALYZE) tags"}
	}
	for _, statement := range tidy {
		if _, err := l.db.Write.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// settle advances the ID sequences past the imported IDs, and updates counts.
func (l *loader) settle(ctx context.Context, tx bun.Tx) error {
	if l.db.Engine == database.Postgres {
		for _, table := range []string{"things", "files"} {
			_, err := tx.ExecContext(ctx, "SELECT setval(pg_get_serial_sequence('"+table+"', 'id'), greatest((SELECT max(id) FROM "+table+"), pg_sequence_last_value(pg_get_serial_sequence('"+table+"', 'id')::regclass)))")
			if err != nil {
				return err
			}
		}
	}
	return l.db.countThings(ctx, tx)
}

// countThings recounts the published things of users, categories and tags.
func (db *DB) countThings(ctx context.Context, tx bun.Tx) error {
	if err := db.lockCounts(ctx, tx); err != nil {
		return err
	}
	for _, c := range []struct {
		Count
		rows string
	}{
		{userThings, "SELECT owner_id AS id, count(*) AS n FROM things WHERE state = 'published' GROUP BY owner_id"},
		{categoryThings, "SELECT category_id AS id, count(*) AS n FROM things WHERE state = 'published' GROUP BY category_id"},
		{tagThings, "SELECT tt.tag_id AS id, count(*) AS n FROM thing_tags AS tt JOIN things AS t ON t.id = tt.thing_id WHERE t.state = 'published' GROUP BY tt.tag_id"},
	} {
		if _, err := tx.NewRaw("DELETE FROM count_changes WHERE of_table = ? AND of_column = ?", c.table, c.column).Exec(ctx); err != nil {
			return err
		}
		_, err := tx.NewRaw("UPDATE ?0 AS o SET ?1 = n.n FROM (?2) AS n WHERE n.id = o.id AND o.?1 <> n.n", bun.Ident(c.table), bun.Ident(c.column), bun.Safe(c.rows)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}
