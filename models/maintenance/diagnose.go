package maintenance

import (
	"context"
	"fmt"

	"github.com/meshyard/meshyard/models"
)

// Diagnose returns maintenance problems of the database, each with its remedy: missing or old
// statistics, space of deleted rows, too few connections, unfinished work, and postponed previews.
// It returns none if there are no problems.
func (s *Store) Diagnose(ctx context.Context) (findings []string, err error) {
	var imports []models.ImportRow
	if err := s.core.DB.Read.NewSelect().Model(&imports).Scan(ctx); err != nil {
		return nil, err
	}
	for _, im := range imports {
		finding := fmt.Sprintf("an import of %s stopped after %d things: run it again", im.Source, im.Done)
		if im.Later != "" {
			finding += "; until it is complete, indexes are missing"
		}
		findings = append(findings, finding)
	}
	archives, err := s.core.DB.Read.NewSelect().Model((*models.ArchiveImport)(nil)).Where("noun <> ?", models.AccountNoun).
		Count(ctx)
	if err != nil {
		return nil, err
	}
	if archives > 0 {
		findings = append(findings, "an import of an archive stopped: run it again")
	}
	for _, waiting := range []struct{ table, what string }{{"count_changes", "changes of counts"},
		{"new_downloads", "downloads"}} {
		n, err := s.core.DB.Read.NewSelect().Table(waiting.table).Count(ctx)
		if err != nil {
			return nil, err
		}
		if n > 20*models.FoldBatch {
			findings = append(findings, fmt.Sprintf("%d %s are not folded: a running server folds them every few seconds", n,
				waiting.what))
		}
	}
	postponed, err := s.previews.DiagnosePreviews(ctx)
	if err != nil {
		return nil, err
	}
	findings = append(findings, postponed...)
	more, err := s.core.DB.Diagnose(ctx, Maintained)
	return append(findings, more...), err
}
