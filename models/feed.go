package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// The entries of a feed are objects of three types. The id of an entry is feedTypes times the id of
// the object plus the number of its type, so that entries of the same time have an order.
const (
	feedThing = iota
	feedMake
	feedCollection
	feedTypes
)

// Feed lists what the users that the caller follows published, newest first. The nodes are entries
// for FeedItems.
func (s *Store) Feed(caller auth.Caller, userID int64) (List, error) {
	if userID != caller.UserID {
		return List{}, fail(Forbidden, "a feed is shown to its user alone")
	}
	by := database.Order{Key: "e.at", Time: true, ID: "e.id"}
	l := List{DB: s.db.DB, By: by, Rows: func(userID int64) *bun.SelectQuery {
		followed := s.db.Read.NewSelect().TableExpr("follows AS fw").Column("fw.followed_id").Where("fw.follower_id = ?", userID)
		entries := func(q *bun.SelectQuery, id, at, owner string, number int) *bun.SelectQuery {
			return q.ColumnExpr("? AS at, ? * ? + ? AS id", bun.Safe(at), bun.Safe(id), feedTypes, number).
				Where("? IN (?)", bun.Safe(owner), followed)
		}
		collections := s.db.Read.NewSelect().TableExpr("collections AS co").Where("co.visibility = 'public'")
		return s.db.Read.NewSelect().TableExpr("(?) AS e",
			entries(s.things(Filter{hidden: hiddenFrom(caller)}), "t.id", "t.published_at", "t.owner_id", feedThing).
				UnionAll(entries(s.makes(), "m.id", "m.published_at", "m.owner_id", feedMake)).
				UnionAll(entries(collections, "co.id", "co.created_at", "co.owner_id", feedCollection)))
	}}
	return l.Bounded(MaxFound), nil
}

// FeedItems are the objects of entries of a feed, by the id of the entry.
type FeedItems struct {
	Things      map[int64]*Thing
	Makes       map[int64]*Make
	Collections map[int64]*Collection
}

// FeedItemsByID reads the objects of entries of a feed.
func (s *Store) FeedItemsByID(ctx context.Context, ids []int64) (items FeedItems, err error) {
	of := make([][]int64, feedTypes)
	for _, id := range ids {
		of[id%feedTypes] = append(of[id%feedTypes], id/feedTypes)
	}
	things, err := s.ThingsByID(ctx, of[feedThing])
	if err != nil {
		return items, err
	}
	makes, err := s.MakesByID(ctx, of[feedMake])
	if err != nil {
		return items, err
	}
	collections, err := s.CollectionsByID(ctx, of[feedCollection])
	return FeedItems{byEntry(things, feedThing), byEntry(makes, feedMake), byEntry(collections, feedCollection)}, err
}

// byEntry returns objects by the ids of their entries.
func byEntry[V any](objects map[int64]V, number int64) map[int64]V {
	entries := make(map[int64]V, len(objects))
	for id, o := range objects {
		entries[id*feedTypes+number] = o
	}
	return entries
}
