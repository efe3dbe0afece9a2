package importer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/maintenance"
)

// importedTables are the tables that an import fills.
var importedTables = bun.List([]string{"users", "things", "thing_tags", "files", "imported_counts", "thing_documents",
	"user_documents", "vocabulary"})

// dropIndexes drops the indexes of the tables that a large import fills, on PostgreSQL and if there
// are no things yet, and returns the statements that create them again: creating them once over all
// rows costs a fraction of updating them row by row. Unique indexes and references stay, because a
// server may run at the same time.
func (l *loader) dropIndexes(ctx context.Context, tx bun.Tx) ([]string, error) {
	if !l.db.IndexesConcurrently() || l.Total < 2*importBatch {
		return nil, nil
	}
	if some, err := tx.NewSelect().Table("things").Exists(ctx); err != nil || some {
		return nil, err
	}
	var indexes []struct{ Name, Definition string }
	err := tx.NewRaw("SELECT CAST(indexrelid::regclass AS text) AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index "+
		"WHERE NOT indisunique AND indrelid IN (SELECT ('' || t)::regclass FROM unnest(ARRAY[?]) AS t) ORDER BY definition DESC", importedTables).Scan(ctx, &indexes)
	if err != nil {
		return nil, err
	}
	var later []string
	for _, ix := range indexes {
		if _, err := tx.ExecContext(ctx, "DROP INDEX "+ix.Name); err != nil {
			return nil, err
		}
		// An interrupted CREATE INDEX CONCURRENTLY leaves an invalid index.
		later = append(later, "DROP INDEX IF EXISTS "+ix.Name, strings.Replace(ix.Definition, "CREATE INDEX",
			"CREATE INDEX CONCURRENTLY", 1))
	}
	return later, nil
}

// reserve advances the ID sequences past the IDs to import, so that a server that runs at the same
// time does not use them.
func (l *loader) reserve(ctx context.Context, db bun.IDB) error {
	var thing, file int64
	for th := range l.Things(0) {
		thing = max(thing, th.ID)
		for _, f := range th.Files {
			file = max(file, f.ID)
		}
	}
	for table, last := range map[string]int64{"things": thing, "files": file} {
		if err := l.db.ReserveIDs(ctx, db, table, last); err != nil {
			return err
		}
	}
	return nil
}

// finish updates counts, creates again what dropIndexes dropped, and deletes the import record.
// Each step can be repeated.
func (l *loader) finish(ctx context.Context) error {
	if err := l.inTx(ctx, l.db.CountThings); err != nil {
		return err
	}
	row := &models.ImportRow{Source: l.Source}
	if err := l.db.Write.NewSelect().Model(row).WherePK().Scan(ctx); err != nil {
		return err
	}
	if row.Later != "" {
		if err := l.createIndexes(ctx, strings.Split(row.Later, "\n")); err != nil {
			return err
		}
	}
	if _, err := l.db.Write.NewDelete().Model(row).WherePK().Exec(ctx); err != nil {
		return err
	}
	return l.db.Analyze(ctx, maintenance.Maintained)
}

// createIndexes runs statements that create indexes, outside of a transaction, so that they do not
// block writers. It commits them asynchronously; the commit that deletes the import record flushes
// them.
func (l *loader) createIndexes(ctx context.Context, statements []string) (err error) {
	conn, err := l.db.Write.Conn(ctx)
	if err != nil {
		return err
	}
	reset := "SELECT 1"
	if l.db.HasSessions() {
		statements = append([]string{"SET maintenance_work_mem = '256MB'", "SET synchronous_commit = off"}, statements...)
		reset = "RESET maintenance_work_mem; RESET synchronous_commit"
	}
	defer func() {
		_, errOf := conn.ExecContext(context.WithoutCancel(ctx), reset)
		err = errors.Join(err, errOf, conn.Close())
	}()
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
