package search

import (
	"context"
	"math/rand/v2"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

const (
	// recommendingTags is the number of a user's tags that recommendations are based on.
	recommendingTags = 20
	// recommendingThings is how many of the latest things that a user likes, and of the latest that
	// they created, these tags are taken from.
	recommendingThings = 300
)

// tagsOfInterest selects the tags of the things that a user likes and can see, or created, the most
// frequent first. A liked thing may have been hidden since, and have other tags.
func (s *Store) tagsOfInterest(userID int64) *bun.SelectQuery {
	return s.core.DB.Read.NewSelect().TableExpr("thing_tags AS tt").Column("tt.tag_id").
		Join("JOIN things AS t ON t.id = tt.thing_id").Where("t.state <> 'draft' OR t.owner_id = ?", userID).
		Where("tt.thing_id IN (SELECT * FROM (SELECT target_id FROM likes WHERE user_id = ?0 AND target_type = 'thing' ORDER BY id DESC LIMIT ?1) AS liked "+
			"UNION SELECT * FROM (SELECT id FROM things WHERE owner_id = ?0 ORDER BY id DESC LIMIT ?1) AS own)", userID,
			recommendingThings).
		Group("tt.tag_id").OrderExpr("count(*) DESC, tt.tag_id").Limit(recommendingTags)
}

// RecommendedThings lists published things for the caller, the most popular first: things of other
// users that the caller does not like yet, and that have one of the caller's most frequent tags. If
// the caller has no tags, it lists all things of other users that the caller does not like yet. It
// returns Forbidden if userID is another user.
func (s *Store) RecommendedThings(ctx context.Context, caller auth.Caller, userID int64) (models.List, error) {
	if err := models.RequireSelf(caller, userID, "recommendations"); err != nil {
		return models.List{}, err
	}
	// This is a separate statement, because SQLite would run a subquery again for each thing.
	var tags []int64
	if err := s.tagsOfInterest(userID).Scan(ctx, &tags); err != nil {
		return models.List{}, err
	}
	return models.List{DB: s.core.DB.DB, By: database.Order{Key: "t.popularity", ID: "t.id"},
		Rows: database.RowsFunc(func(b *database.Builder, userID any) *bun.SelectQuery {
			q := b.Select().TableExpr("things AS t").Where("t.state = 'published' AND t.owner_id <> ?", userID).
				Where("NOT EXISTS (SELECT 1 FROM likes AS l WHERE l.user_id = ? AND l.target_type = 'thing' AND l.target_id = t.id)", userID)
			if len(tags) > 0 {
				q = q.Where("EXISTS (SELECT 1 FROM thing_tags AS tt WHERE tt.thing_id = t.id AND tt.tag_id IN (?))", bun.List(tags))
			}
			return models.HiddenFrom(caller).From(q, caller.UserID)
		})}.Bounded(models.MaxFound), nil
}

// RecommendedTags returns the tags of the things that the caller likes and can see, or created, the
// most frequent first. It returns Forbidden if userID is another user.
func (s *Store) RecommendedTags(ctx context.Context, caller auth.Caller, fields models.TagFields,
	userID int64) ([]*models.Tag, error) {
	if err := models.RequireSelf(caller, userID, "recommendations"); err != nil {
		return nil, err
	}
	var ids []int64
	if err := s.tagsOfInterest(userID).Scan(ctx, &ids); err != nil || len(ids) == 0 {
		return []*models.Tag{}, err
	}
	found, err := s.core.TagsByID(ctx, fields, ids)
	tags := make([]*models.Tag, 0, len(ids))
	for _, id := range ids {
		if t := found[id]; t != nil {
			tags = append(tags, t)
		}
	}
	return tags, err
}

// RandomThings returns n distinct published things, chosen at random, or all of them if there are
// fewer. Each choice starts at a random ID, so a thing after a gap of deleted IDs is chosen more
// often. Things that the caller does not want to see are not chosen.
func (s *Store) RandomThings(ctx context.Context, caller auth.Caller, fields models.ThingFields,
	n int) ([]*models.Thing, error) {
	var bounds struct{ Least, Most int64 }
	err := s.core.DB.Read.NewSelect().TableExpr("things").
		ColumnExpr("coalesce(min(id), 0) AS least, coalesce(max(id), 0) AS most").
		Where("state = ?", models.Published).Scan(ctx, &bounds)
	if err != nil || bounds.Most == 0 {
		return []*models.Thing{}, err
	}
	// One subquery that runs for each start: PostgreSQL takes longer to plan 100 subqueries than to
	// run them.
	starts := make([]bun.TupleValues, n)
	for i := range starts {
		starts[i] = bun.Tuple([]int64{bounds.Least + rand.Int64N(bounds.Most-bounds.Least+1)})
	}
	first := models.HiddenFrom(caller).From(s.core.DB.Read.NewSelect().TableExpr("things AS t"), caller.UserID).
		Column("t.id").
		Where("t.state = ? AND t.id >= v.column1", models.Published).OrderExpr("t.id").Limit(1)
	picks := s.core.DB.Read.NewSelect().TableExpr("(VALUES ?) AS v", bun.List(starts)).ColumnExpr("(?) AS id", first)
	var ids []int64
	if err := s.core.DB.Read.NewSelect().TableExpr("(?) AS p", picks).Column("p.id").Where("p.id IS NOT NULL").
		Scan(ctx, &ids); err != nil {
		return nil, err
	}
	if ids, err = s.fillRandom(ctx, caller, models.Distinct(ids), n,
		bounds.Least+rand.Int64N(bounds.Most-bounds.Least+1)); err != nil {
		return nil, err
	}
	found, err := s.core.ThingsByID(ctx, caller, fields.With(models.ThingAccess), ids)
	things := make([]*models.Thing, 0, len(found))
	for _, id := range ids {
		if t := found[id]; t != nil && t.State == models.Published {
			things = append(things, t)
			delete(found, id)
		}
	}
	return things, err
}

// fillRandom adds to the IDs of random things, some of which were chosen more than once, those of
// the things from a random ID on until there are n. After the last thing it continues with the
// first. It reads at most n rows from each, in the order of an index.
func (s *Store) fillRandom(ctx context.Context, caller auth.Caller, ids []int64, n int, start int64) ([]int64, error) {
	chosen := len(ids)
	for _, condition := range []string{"t.id >= ?", "t.id < ?"} {
		if len(ids) >= n {
			break
		}
		var more []int64
		q := models.HiddenFrom(caller).From(s.core.DB.Read.NewSelect().TableExpr("things AS t"), caller.UserID).
			Column("t.id").
			Where("t.state = ?", models.Published).Where(condition, start).OrderExpr("t.id").Limit(int64(n))
		if err := q.Scan(ctx, &more); err != nil {
			return nil, err
		}
		ids = models.Distinct(append(ids, more...))
	}
	ids = ids[:min(n, len(ids))]
	if len(ids) > chosen {
		rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	}
	return ids, nil
}
