package lists

import (
	"context"
	"time"
)

// IDRange is a range of IDs: those above Number*size, up to and including (Number+1)*size.
type IDRange struct {
	Number int64
	Count  int // the number of objects in the range
}

// PublishedThing is a published thing in a sitemap.
type PublishedThing struct {
	ID         int64
	ModifiedAt time.Time
}

// RangesOfThings returns the ranges of IDs in which there are published things.
func (s *Store) RangesOfThings(ctx context.Context, size int64) (ranges []IDRange, err error) {
	err = s.core.DB.Read.NewSelect().TableExpr("things AS t").
		ColumnExpr("(t.id - 1) / ? AS number, count(*) AS count", size).
		Where("t.state = 'published'").GroupExpr("1").OrderExpr("1").Scan(ctx, &ranges)
	return ranges, err
}

// ThingsInRange returns the published things in a range of IDs.
func (s *Store) ThingsInRange(ctx context.Context, size, number int64) (things []PublishedThing, err error) {
	err = s.core.DB.Read.NewSelect().TableExpr("things AS t").ColumnExpr("t.id, t.modified_at").
		Where("t.state = 'published' AND t.id > ? AND t.id <= ?", number*size, (number+1)*size).OrderExpr("t.id").
		Scan(ctx, &things)
	return things, err
}

// RangesOfCreators returns the ranges of IDs in which there are users with published things.
func (s *Store) RangesOfCreators(ctx context.Context, size int64) (ranges []IDRange, err error) {
	err = s.core.DB.Read.NewSelect().TableExpr("users AS u").
		ColumnExpr("(u.id - 1) / ? AS number, count(*) AS count", size).
		Where("u.thing_count > 0 AND u.deleted_at IS NULL").GroupExpr("1").OrderExpr("1").Scan(ctx, &ranges)
	return ranges, err
}

// CreatorsInRange returns the names of the users with published things in a range of IDs.
func (s *Store) CreatorsInRange(ctx context.Context, size, number int64) (usernames []string, err error) {
	err = s.core.DB.Read.NewSelect().TableExpr("users AS u").ColumnExpr("u.username").
		Where("u.thing_count > 0 AND u.deleted_at IS NULL AND u.id > ? AND u.id <= ?", number*size, (number+1)*size).
		OrderExpr("u.id").Scan(ctx, &usernames)
	return usernames, err
}
