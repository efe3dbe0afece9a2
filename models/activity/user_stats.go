package activity

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// maxStatsDays is the maximum number of days from the first day of statistics to the last.
const maxStatsDays = 365

// StatsDay is what happened on one day to the published things of a user, or to one of them.
type StatsDay struct {
	Day       string // YYYY-MM-DD, UTC
	ThingID   int64  // 0: all things
	Downloads int64
	Likes     int64
	Collects  int64
	Watches   int64
	Comments  int64
	Makes     int64
	Remixes   int64
}

// StatsPeriod selects the days of statistics.
type StatsPeriod struct {
	From, To time.Time // both days included, UTC
	ByThing  bool      // one entry for each day and thing, not one for each day
}

// Stats returns the daily numbers of events on the things of the caller, the earliest day first.
// Days without events are left out. Events that were undone, such as removed likes, are not
// counted. It returns Forbidden if userID is another user, and BadInput for an invalid period.
func (s *Store) Stats(ctx context.Context, caller auth.Caller, userID int64, p StatsPeriod) ([]*StatsDay, error) {
	if err := models.RequireSelf(caller, userID, "statistics"); err != nil {
		return nil, err
	}
	if err := errors.Join(models.CheckYear("from", p.From), models.CheckYear("to", p.To)); err != nil {
		return nil, err
	}
	from, last := p.From.UTC().Truncate(24*time.Hour), p.To.UTC().Truncate(24*time.Hour)
	if last.Before(from) {
		return nil, models.Invalid("to", "to: must not be before the start of the period").
			WithFieldCode(apierror.FieldOutOfRange)
	}
	if last.Sub(from) > maxStatsDays*24*time.Hour {
		e := models.Invalid("to", "to: must be at most %d days after the start of the period", maxStatsDays).
			WithFieldCode(apierror.FieldOutOfRange)
		e.Limit = maxStatsDays
		return nil, e
	}
	thing := bun.Safe("0")
	if p.ByThing {
		thing = "e.thing_id"
	}
	mine := s.core.DB.Read.NewSelect().TableExpr("things").Column("id").Where("owner_id = ? AND state = ?", userID,
		models.Published)
	events := bun.SafeQuery(`
		SELECT thing_id, created_at AS at, 'download' AS event FROM downloads
			WHERE thing_id IN (?0) AND created_at >= ?1 AND created_at < ?2
		UNION ALL SELECT target_id, created_at, 'like' FROM likes
			WHERE target_type = 'thing' AND target_id IN (?0) AND created_at >= ?1 AND created_at < ?2
		UNION ALL SELECT thing_id, created_at, 'collect' FROM collection_things
			WHERE thing_id IN (?0) AND created_at >= ?1 AND created_at < ?2
		UNION ALL SELECT target_id, created_at, 'watch' FROM watches
			WHERE target_type = 'thing' AND target_id IN (?0) AND created_at >= ?1 AND created_at < ?2
		UNION ALL SELECT thing_id, created_at, 'comment' FROM comments
			WHERE thing_id IN (?0) AND deleted_at IS NULL AND created_at >= ?1 AND created_at < ?2
		UNION ALL SELECT thing_id, published_at, 'make' FROM makes
			WHERE thing_id IN (?0) AND state = 'published' AND published_at >= ?1 AND published_at < ?2
		UNION ALL SELECT a.ancestor_id, t.published_at, 'remix' FROM thing_ancestors AS a
			JOIN things AS t ON t.id = a.thing_id
			WHERE a.ancestor_id IN (?0) AND t.state = 'published' AND t.published_at >= ?1 AND t.published_at < ?2`, mine, from, last.AddDate(0, 0, 1))
	q := s.core.DB.Read.NewSelect().TableExpr("(?) AS e", events).ColumnExpr("? AS day, ? AS thing_id",
		s.core.DB.Day("e.at"), thing)
	for _, event := range []string{"download", "like", "collect", "watch", "comment", "make", "remix"} {
		column := event + "s"
		if event == "watch" || event == "remix" {
			column = event + "es"
		}
		q = q.ColumnExpr("sum(CASE WHEN e.event = ? THEN 1 ELSE 0 END) AS ?", event, bun.Ident(column))
	}
	var days []*StatsDay
	err := q.GroupExpr("1, 2").OrderExpr("1, 2").Limit(models.MaxIDs).Scan(ctx, &days)
	return days, err
}
