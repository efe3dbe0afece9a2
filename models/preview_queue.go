package models

import (
	"context"
	"time"

	"github.com/uptrace/bun"
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
	err := s.db.Read.NewSelect().Model((*Preview)(nil)).ColumnExpr("count(*)").Where("p.state = ?", PreviewRunning).Scan(ctx, &q.Running)
	if err != nil {
		return q, err
	}
	err = s.db.Read.NewSelect().Model((*Preview)(nil)).ColumnExpr("count(*)").Where("p.state = ?", PreviewWaiting).Scan(ctx, &q.Waiting)
	if err != nil || q.Waiting == 0 {
		return q, err
	}
	err = s.db.Read.NewSelect().Model((*Preview)(nil)).Column("beat_at").Where("p.state = ?", PreviewWaiting).Order("beat_at").Limit(1).Scan(ctx, &first)
	if !first.IsZero() {
		q.Oldest = max(0, now().Sub(first.Time))
	}
	return q, ignoreNoRows(err)
}
