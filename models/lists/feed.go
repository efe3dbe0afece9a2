package lists

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// The entries of a feed are objects of three types. The ID of an entry is feedTypes times the ID of
// the object plus the number of its type, so that entries with the same time have an order.
const (
	feedThing = iota
	feedMake
	feedCollection
	feedTypes
)

// Feed lists the things, makes and collections that the users whom a user follows have published,
// newest first. Its nodes are IDs of entries for FeedItemsByID. It returns Forbidden unless the
// user is the caller.
func (s *Store) Feed(caller auth.Caller, userID int64) (models.List, error) {
	if err := models.RequireSelf(caller, userID, "feeds"); err != nil {
		return models.List{}, err
	}
	by := database.Order{Key: "e.at", Time: true, ID: "e.id"}
	var f Filter
	f.Hide(caller)
	l := models.List{DB: s.core.DB.DB, By: by,
		Rows: database.RowsFunc(func(b *database.Builder, userID any) *bun.SelectQuery {
			followed := b.Select().TableExpr("follows AS fw").Column("fw.followed_id").Where("fw.follower_id = ?", userID)
			entries := func(q *bun.SelectQuery, id, at, owner string, number int) *bun.SelectQuery {
				return q.ColumnExpr("? AS at, ? * ? + ? AS id", bun.Safe(at), bun.Safe(id), feedTypes, number).
					Where("? IN (?)", bun.Safe(owner), followed)
			}
			collections := b.Select().TableExpr("collections AS co").Where("co.visibility = 'public'")
			return b.Select().TableExpr("(?) AS e",
				entries(FilteredThings(b, f), "t.id", "t.published_at", "t.owner_id", feedThing).
					UnionAll(entries(publicMakes(b), "m.id", "m.published_at", "m.owner_id", feedMake)).
					UnionAll(entries(collections, "co.id", "co.created_at", "co.owner_id", feedCollection)))
		})}
	return l.Bounded(models.MaxFound), nil
}

// FeedFields are the fields of the items of a feed.
type FeedFields struct {
	Things      models.ThingFields
	Makes       models.MakeFields
	Collections models.CollectionFields
}

// FeedItems holds the objects of entries of a feed, by the ID of the entry.
type FeedItems struct {
	Things      map[int64]*models.Thing
	Makes       map[int64]*models.Make
	Collections map[int64]*models.Collection
}

// FeedItemsByID returns the objects of the entries of a feed with the given IDs. It does not check
// visibility.
func (s *Store) FeedItemsByID(ctx context.Context, caller auth.Caller, fields FeedFields,
	ids []int64) (items FeedItems, err error) {
	of := make([][]int64, feedTypes)
	for _, id := range ids {
		of[id%feedTypes] = append(of[id%feedTypes], id/feedTypes)
	}
	things, err := s.core.ThingsByID(ctx, caller, fields.Things, of[feedThing])
	if err != nil {
		return items, err
	}
	makes, err := s.core.MakesByID(ctx, caller, fields.Makes, of[feedMake])
	if err != nil {
		return items, err
	}
	collections, err := s.core.CollectionsByID(ctx, caller, fields.Collections, of[feedCollection])
	return FeedItems{byEntry(things, feedThing), byEntry(makes, feedMake), byEntry(collections, feedCollection)}, err
}

// byEntry converts a map from object IDs to a map from entry IDs.
func byEntry[V any](objects map[int64]V, number int64) map[int64]V {
	entries := make(map[int64]V, len(objects))
	for id, o := range objects {
		entries[id*feedTypes+number] = o
	}
	return entries
}
