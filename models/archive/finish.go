package archive

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/maintenance"
	"github.com/meshyard/meshyard/models/previews"
)

// finish completes an import after all rows are loaded. Each step can be repeated.
func (l *archiveLoader) finish(ctx context.Context) (*Report, error) {
	var err error
	if l.ofUser() {
		err = l.finishUser(ctx)
	} else {
		err = l.finishAll(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("all rows are imported; counts and indexes: %w", err)
	}
	report := &Report{Lost: l.leftOut[lostContents]}
	for _, n := range l.from.Nouns {
		report.Rows += n.Rows
	}
	for _, what := range slices.Sorted(maps.Keys(l.leftOut)) {
		report.LeftOut = append(report.LeftOut, fmt.Sprintf("%d %s", l.leftOut[what], what))
	}
	if report.Previews, err = l.store.previews.SchedulePreviews(ctx, previews.AgainNone); err != nil {
		return nil, err
	}
	if l.Renumbered != nil {
		for _, noun := range []string{"users", "things", "makes", "comments", "collections", "files"} {
			err := l.eachIDs(ctx, noun, func(rows []models.ArchiveID) error {
				for _, a := range rows {
					if err := l.Renumbered(noun, a.OldID, a.NewID); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	_, err = l.store.core.DB.Write.NewDelete().Model(&l.row).WherePK().Exec(ctx)
	return report, err
}

// finishAll sets the ID sequences, indexes all objects for search, and recomputes all counts.
func (l *archiveLoader) finishAll(ctx context.Context) error {
	db := l.store.core.DB
	err := db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		for _, n := range l.from.Nouns {
			if n.LastID == 0 {
				continue
			}
			if err := db.SetLastID(ctx, tx, n.Name, n.LastID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Without statistics of the new rows, counting them would take long.
	for _, n := range l.from.Nouns {
		if _, err := db.Write.NewRaw("ANALYZE ?", bun.Ident(n.Name)).Exec(ctx); err != nil {
			return err
		}
	}
	if err := db.ReindexAll(ctx); err != nil {
		return err
	}
	if _, err := l.store.maintenance.Recount(ctx); err != nil {
		return err
	}
	// The trigger of files has appended a change for each of them.
	if _, err := l.store.core.FoldCounts(ctx); err != nil {
		return err
	}
	return db.Analyze(ctx, maintenance.Maintained)
}

// finishUser sets the avatar and the cover of the imported user, indexes the imported objects for
// search, and recomputes their counts.
func (l *archiveLoader) finishUser(ctx context.Context) error {
	db := l.store.core.DB
	// The images are files, which are loaded after their user.
	_, err := db.Write.NewRaw(`UPDATE users SET avatar_id = coalesce((SELECT max(f.id) FROM files AS f WHERE f.target_type = 'avatar' AND f.target_id = users.id AND f.state = 'finalized'), 0),
		cover_id = coalesce((SELECT max(f.id) FROM files AS f
			WHERE f.target_type = 'cover' AND f.target_id = users.id AND f.state = 'finalized'), 0)
		WHERE id IN (SELECT new_id FROM archive_ids WHERE source = ? AND noun = 'users')`, l.row.Source).Exec(ctx)
	if err != nil {
		return err
	}
	for _, ix := range models.Indexes {
		err := l.eachNewIDs(ctx, ix.Noun+"s", func(ids []int64) error { return db.Reindex(ctx, ix, ids...) })
		if err != nil {
			return err
		}
	}
	for _, table := range maintenance.CountedTables() {
		err := l.eachNewIDs(ctx, table, func(ids []int64) error {
			_, err := l.store.maintenance.RecountSome(ctx, table, ids)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachNewIDs calls fn with the new IDs of the rows of a noun, in batches.
func (l *archiveLoader) eachNewIDs(ctx context.Context, noun string, fn func(ids []int64) error) error {
	return l.eachIDs(ctx, noun, func(rows []models.ArchiveID) error {
		ids := make([]int64, len(rows))
		for i, a := range rows {
			ids[i] = a.NewID
		}
		return fn(ids)
	})
}

// eachIDs calls fn with the old and new IDs of the rows of a noun, in batches.
func (l *archiveLoader) eachIDs(ctx context.Context, noun string, fn func([]models.ArchiveID) error) error {
	for last := int64(0); ; {
		var rows []models.ArchiveID
		err := l.store.core.DB.Read.NewSelect().Model(&rows).Where("a.source = ? AND a.noun = ? AND a.old_id > ?",
			l.row.Source, noun, last).
			Order("a.old_id").Limit(archiveBatch).Scan(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		last = rows[len(rows)-1].OldID
		if err := fn(rows); err != nil {
			return err
		}
	}
}
