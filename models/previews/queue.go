package previews

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// PreviewQueue is the state of the queue of previews.
type PreviewQueue struct {
	Waiting, Running int
	// Oldest is how long the oldest waiting preview has been ready to run; 0 if none is waiting.
	Oldest time.Duration
}

// PreviewQueue returns the state of the queue of previews. It takes two statements on an index.
func (s *Store) PreviewQueue(ctx context.Context) (PreviewQueue, error) {
	var q PreviewQueue
	var first bun.NullTime // sql.NullTime cannot read the texts of SQLite
	err := s.core.DB.Read.NewSelect().Model((*models.Preview)(nil)).ColumnExpr("count(*)").
		Where("p.state = ?", models.PreviewRunning).Scan(ctx, &q.Running)
	if err != nil {
		return q, err
	}
	err = s.core.DB.Read.NewSelect().Model((*models.Preview)(nil)).ColumnExpr("count(*)").
		Where("p.state = ?", models.PreviewWaiting).Scan(ctx, &q.Waiting)
	if err != nil || q.Waiting == 0 {
		return q, err
	}
	err = s.core.DB.Read.NewSelect().Model((*models.Preview)(nil)).Column("beat_at").
		Where("p.state = ?", models.PreviewWaiting).Order("beat_at").Limit(1).Scan(ctx, &first)
	if !first.IsZero() {
		q.Oldest = max(0, models.Now().Sub(first.Time))
	}
	return q, models.IgnoreNoRows(err)
}

// PostponedPreviews returns the number of previews whose last attempt ended because of an outage.
func (s *Store) PostponedPreviews(ctx context.Context) (int64, error) {
	return s.core.DB.Read.NewSelect().Model((*models.Preview)(nil)).Where("p.outages > 0").Count(ctx)
}

// DiagnosePreviews returns a finding for each of the first postponed previews.
func (s *Store) DiagnosePreviews(ctx context.Context) (findings []string, err error) {
	const most = 10
	var rows []*models.Preview
	n, err := s.core.DB.Read.NewSelect().Model(&rows).Column("id", "sha256", "outages").Where("p.outages > 0").Order("id").
		Limit(most).ScanAndCount(ctx)
	for _, p := range rows {
		findings = append(findings,
			fmt.Sprintf("preview %d: the bucket was unavailable or full (failed attempts: %d); if other previews succeed, check that the server can read the object %s",
				p.ID, p.Outages, bucket.ContentKey(p.SHA256)))
	}
	if n > most {
		findings = append(findings, fmt.Sprintf("%d more previews are postponed", n-most))
	}
	return findings, err
}
