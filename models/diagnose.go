package models

import (
	"context"
	"fmt"
)

// Diagnose returns maintenance problems of the database, each with its remedy: missing or old
// statistics, space of deleted rows, too few connections, unfinished work, and postponed previews.
// It returns none if there are no problems.
func (s *Store) Diagnose(ctx context.Context) (findings []string, err error) {
	var imports []ImportRow
	if err := s.DB.Read.NewSelect().Model(&imports).Scan(ctx); err != nil {
		return nil, err
	}
	for _, im := range imports {
		finding := fmt.Sprintf("an import of %s stopped after %d things: run it again", im.Source, im.Done)
		if im.Later != "" {
			finding += "; until it is complete, indexes are missing"
		}
		findings = append(findings, finding)
	}
	archives, err := s.DB.Read.NewSelect().Model((*ArchiveImport)(nil)).Where("noun <> ?", accountNoun).Count(ctx)
	if err != nil {
		return nil, err
	}
	if archives > 0 {
		findings = append(findings, "an import of an archive stopped: run it again")
	}
	for _, waiting := range []struct{ table, what string }{{"count_changes", "changes of counts"}, {"new_downloads", "downloads"}} {
		n, err := s.DB.Read.NewSelect().Table(waiting.table).Count(ctx)
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
	more, err := s.DB.Diagnose(ctx, Maintained)
	return append(findings, more...), err
}
