package models

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// Sort is the order of a search.
type Sort string

// The orders of searches.
const (
	// by text match and popularity together; by popularity if there is no search text
	ByRelevance Sort = "relevance"
	ByText      Sort = "text" // by text match first
	ByPopular   Sort = "popular"
	ByNewest    Sort = "newest"
	ByMakes     Sort = "makes"
	ByDesigns   Sort = "designs"
	ByFollowers Sort = "followers"
	ByFeatured  Sort = "featured" // featured things only, most recently featured first
	ByDownloads Sort = "downloads"
	ByLikes     Sort = "likes"
	ByUpdated   Sort = "updated"
	ByOldest    Sort = "oldest"
	ByName      Sort = "name" // from A to Z
)

// maxFound is the maximum number of results of a search that are counted.
const maxFound = 10_000

// Things lists the published things that match a filter. It returns BadInput if the filter is not
// valid.
func (s *Store) Things(f Filter, sort Sort) (List, error) {
	if err := f.check(); err != nil {
		return List{}, err
	}
	by := database.Order{Key: "t.published_at", Time: true, ID: "t.id"}
	switch sort {
	case ByPopular, ByRelevance, ByText:
		by = database.Order{Key: "t.popularity", ID: "t.id"}
	case ByMakes:
		by = database.Order{Key: "t.make_count", ID: "t.id"}
	case ByDownloads:
		by = database.Order{Key: "t.download_count", ID: "t.id"}
	case ByLikes:
		by = database.Order{Key: "t.like_count", ID: "t.id"}
	case ByFeatured:
		by.Key = "t.featured_at"
	case ByUpdated:
		by.Key = "t.modified_at"
	case ByOldest:
		by.Ascending = true
	case ByName:
		by = byName("t.id", "t.sort_name")
	}
	l := List{DB: s.db.DB, Name: f.name("things", sort), By: by, Rows: func(any, any) *bun.SelectQuery {
		q := s.things(f)
		if sort == ByFeatured {
			q = q.Where("t.featured_at IS NOT NULL")
		}
		return q
	}}
	hidden, rest := f.hidden, f
	rest.hidden = hiddenThings{}
	switch isAll := rest.IsZero(); {
	case isAll && sort != ByFeatured:
		l.Total = totalOf(func(ctx context.Context) (int64, error) { return s.countShown(ctx, hidden) })
	case isAll && hidden == (hiddenThings{}):
		l.Total = totalOf(s.countFeatured)
	}
	return l, nil
}

// totalOf returns the function Total for a list that is the same for all parents.
func totalOf(count func(context.Context) (int64, error)) func(context.Context, []int64) (map[int64]int64, error) {
	return func(ctx context.Context, parents []int64) (map[int64]int64, error) {
		n, err := count(ctx)
		totals := make(map[int64]int64, len(parents))
		for _, parent := range parents {
			totals[parent] = n
		}
		return totals, err
	}
}

// byName is the order by a name, from A to Z.
func byName(id, name string) database.Order {
	return database.Order{Key: name, Text: true, ID: id, Ascending: true}
}

// ThingsOfUsers lists the published things of users, newest first. The list of the caller's own
// things also has drafts and unlisted things.
func (s *Store) ThingsOfUsers(caller auth.Caller) List {
	hidden := hiddenFrom(caller)
	l := List{DB: s.db.DB, Except: caller.UserID, By: database.Order{ID: "t.id"}, Rows: func(userID, _ any) *bun.SelectQuery {
		q := s.db.Read.NewSelect().TableExpr("things AS t")
		if userID != caller.UserID {
			q = q.Where("t.state = 'published'")
		}
		return hidden.from(q.Where("t.owner_id = ?", userID))
	}}
	if hidden == (hiddenThings{}) {
		l.Name = "things of users"
	}
	return l
}

// ThingsInCategories lists the published things in categories and their descendants, most recently
// published first.
func (s *Store) ThingsInCategories(caller auth.Caller) List {
	hidden := hiddenFrom(caller)
	l := List{DB: s.db.DB, By: database.Order{Key: "t.published_at", Time: true, ID: "t.id"}, Rows: func(id, _ any) *bun.SelectQuery {
		return hidden.from(s.db.Read.NewSelect().TableExpr("things AS t").Where("t.state = 'published' AND t.category_id IN (?)", below(id)))
	}}
	if hidden == (hiddenThings{}) {
		l.Name = "things in categories"
	}
	l.Total = func(ctx context.Context, ids []int64) (map[int64]int64, error) {
		return s.countInCategories(ctx, hidden, ids)
	}
	return l
}

// ThingsWithTags lists the published things that have a tag, newest first.
func (s *Store) ThingsWithTags(caller auth.Caller) List {
	hidden := hiddenFrom(caller)
	l := List{DB: s.db.DB, By: database.Order{ID: "tt.thing_id"}, Rows: func(id, _ any) *bun.SelectQuery {
		q := s.db.Read.NewSelect().TableExpr("thing_tags AS tt").Join("JOIN things AS t ON t.id = tt.thing_id AND t.state = 'published'").Where("tt.tag_id = ?", id)
		return hidden.from(q)
	}}
	if hidden == (hiddenThings{}) {
		l.Name, l.Total = "things with tags", s.countWithTags
	}
	return l
}

// isPublished is the condition that the thing with the ID in a column is published. It is a
// subquery, because for a join PostgreSQL could choose to scan all things in the order of the list
// if it has no statistics about the parent.
const isPublished = "(SELECT t.state FROM things AS t WHERE t.id = ?) = 'published'"

// findMakes lists the published makes that match a filter. It returns BadInput if the filter is not
// valid.
func (s *Store) findMakes(f Filter, sort Sort) (List, error) {
	if err := f.check(); err != nil {
		return List{}, err
	}
	by := database.Order{ID: "m.id", Ascending: sort == ByOldest}
	switch sort {
	case ByPopular, ByRelevance, ByText, ByLikes:
		by.Key = "m.like_count"
	}
	return List{DB: s.db.DB, Name: f.name("makes", sort), By: by, Rows: func(any, any) *bun.SelectQuery {
		q := f.objects(s.makes(), "m.id", "m.owner_id")
		if f.ThingID != nil {
			q = q.Where("m.thing_id = ?", *f.ThingID)
		}
		return between(q, "m.published_at", f.PublishedAfter, f.PublishedBefore)
	}}, nil
}

// findUsers lists the users that match a filter. It returns BadInput if the filter is not valid.
func (s *Store) findUsers(f Filter, sort Sort) (List, error) {
	if err := f.check(); err != nil {
		return List{}, err
	}
	by := database.Order{ID: "u.id", Ascending: sort == ByOldest}
	switch sort {
	case ByPopular, ByRelevance, ByText, ByDesigns:
		by.Key = "u.thing_count"
	case ByFollowers:
		by.Key = "u.follower_count"
	case ByMakes:
		by.Key = "u.make_count"
	case ByName:
		by = byName("u.id", "u.sort_name")
	}
	return List{DB: s.db.DB, Name: f.name("users", sort), By: by, Rows: func(any, any) *bun.SelectQuery {
		q := f.objects(s.db.Read.NewSelect().TableExpr("users AS u").Where("u.deleted_at IS NULL"), "u.id", "")
		return between(q, "u.created_at", f.PublishedAfter, f.PublishedBefore)
	}}, nil
}

// UserFilter selects users. A field with its zero value adds no condition.
type UserFilter struct {
	IDs    []int64 // empty but not nil: none
	Prefix string  // of the username, ignoring case
	Role   auth.Role
}

// Users lists the users that match a filter. It returns BadInput if the filter is not valid.
func (s *Store) Users(f UserFilter, sort Sort) (List, error) {
	if err := text("prefix", f.Prefix, maxName); err != nil {
		return List{}, err
	}
	l, err := s.findUsers(Filter{IDs: f.IDs}, sort)
	rows := l.Rows
	l = l.WithRows(func(parent, caller any) *bun.SelectQuery {
		q := rows(parent, caller)
		if prefix := strings.ToLower(f.Prefix); prefix != "" { // both engines use the index
			q = q.Where("u.sort_name >= ? AND u.sort_name < ?", prefix, prefix+string(utf8.MaxRune))
		}
		switch f.Role {
		case auth.Administrator:
			// The first condition lets the database use the partial index users_staff.
			q = q.Where("(u.is_admin OR u.is_moderator) AND u.is_admin")
		case auth.Moderator:
			q = q.Where("(u.is_admin OR u.is_moderator) AND NOT u.is_admin")
		case auth.Member:
			q = q.Where("NOT (u.is_admin OR u.is_moderator)")
		}
		return q
	})
	return l, err
}

// FindCollections lists the public collections that match a filter. It returns BadInput if the
// filter is not valid.
func (s *Store) FindCollections(f Filter, sort Sort) (List, error) {
	if err := f.check(); err != nil {
		return List{}, err
	}
	by := database.Order{ID: "co.id", Ascending: sort == ByOldest}
	switch sort {
	case ByPopular, ByRelevance, ByText:
		by.Key = "co.thing_count"
	case ByName:
		by = byName("co.id", "co.sort_name")
	}
	return List{DB: s.db.DB, Name: f.name("collections", sort), By: by, Rows: func(any, any) *bun.SelectQuery {
		q := f.objects(s.db.Read.NewSelect().TableExpr("collections AS co").Where("co.visibility = 'public'"), "co.id", "co.owner_id")
		if f.LikedByID != nil {
			q = q.Where("co.id IN (SELECT l.target_id FROM likes AS l WHERE l.target_type = 'collection' AND l.user_id = ?)", *f.LikedByID)
		}
		if f.IsFeatured != nil && *f.IsFeatured {
			q = q.Where("false") // collections cannot be featured
		}
		return between(q, "co.created_at", f.PublishedAfter, f.PublishedBefore)
	}}, nil
}
