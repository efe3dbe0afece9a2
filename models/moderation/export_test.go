package moderation

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// Internals that the tests of package moderation_test use.

const MaxOpenReports = maxOpenReports

func (s *Store) InsertReport(ctx context.Context, tx bun.Tx, caller auth.Caller, target models.Target, owner int64,
	reason ReportReason, note string) (id int64, err error) {
	return s.insertReport(ctx, tx, caller, target, owner, reason, note)
}

func (s *Store) Report(ctx context.Context, id int64) (*Report, error) { return s.report(ctx, id) }
