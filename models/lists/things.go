package lists

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
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

// Things lists the published things that match a filter. It returns BadInput if the filter is not
// valid.
func (s *Store) Things(f Filter, sort Sort) (models.List, error) {
	if err := f.check(); err != nil {
		return models.List{}, err
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
	l := models.List{DB: s.core.DB.DB, By: by, Caller: f.viewerID}
	l.Rows = f.rows(allThings{f.hidden, sort == ByFeatured}, func(b *database.Builder, f Filter) *bun.SelectQuery {
		q := FilteredThings(b, f)
		if sort == ByFeatured {
			q = q.Where("t.featured_at IS NOT NULL")
		}
		return q
	})
	if !f.hides() {
		return l, nil
	}
	switch {
	case sort != ByFeatured:
		l.Total = TotalOf(func(ctx context.Context) (int64, error) { return s.countShown(ctx, f.hidden, f.viewerID) })
	case f.IsZero():
		l.Total = TotalOf(s.countFeatured)
	}
	return l, nil
}

// allThings selects the published things, without those that the caller hides.
type allThings struct {
	hidden   models.HiddenThings
	featured bool // only featured ones
}

func (l allThings) Select(b *database.Builder, _ any) *bun.SelectQuery {
	q := b.Select().TableExpr("things AS t").Where("t.state = 'published'")
	if l.featured {
		q = q.Where("t.featured_at IS NOT NULL")
	}
	return l.hidden.From(q, b.Arg(database.CallerArg))
}

// TotalOf returns the function Total for a list that is the same for all parents.
func TotalOf(count func(context.Context) (int64, error)) func(context.Context, []int64) (map[int64]int64, error) {
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

type thingsOfUsers struct {
	hidden models.HiddenThings
	own    bool
}

func (l thingsOfUsers) Select(b *database.Builder, userID any) *bun.SelectQuery {
	q := b.Select().TableExpr("things AS t")
	if l.own {
		q = q.Where("t.deletes_at IS NULL")
	} else {
		q = q.Where("t.state = 'published'")
	}
	return l.hidden.From(q.Where("t.owner_id = ?", userID), b.Arg(database.CallerArg))
}

// ThingsOfUsers lists the published things of users, newest first. The list of the caller's own
// things also has drafts and unlisted things.
func (s *Store) ThingsOfUsers(caller auth.Caller) models.List {
	return models.List{
		DB: s.core.DB.DB, By: database.Order{ID: "t.id"}, Rows: thingsOfUsers{hidden: models.HiddenFrom(caller)},
		Own: thingsOfUsers{own: true}, Owner: caller.UserID, Caller: caller.UserID,
	}
}

type thingsInCategories struct{ hidden models.HiddenThings }

func (l thingsInCategories) Select(b *database.Builder, id any) *bun.SelectQuery {
	q := b.Select().TableExpr("things AS t").Where("t.state = 'published' AND t.category_id IN (?)", below(id))
	return l.hidden.From(q, b.Arg(database.CallerArg))
}

// ThingsInCategories lists the published things in categories and their descendants, most recently
// published first.
func (s *Store) ThingsInCategories(caller auth.Caller) models.List {
	hidden := models.HiddenFrom(caller)
	return models.List{
		DB: s.core.DB.DB, By: database.Order{Key: "t.published_at", Time: true, ID: "t.id"}, Rows: thingsInCategories{hidden},
		Caller: caller.UserID,
		Total: func(ctx context.Context, ids []int64) (map[int64]int64, error) {
			return s.countInCategories(ctx, hidden, caller.UserID, ids)
		},
	}
}

type thingsWithTags struct{ hidden models.HiddenThings }

func (l thingsWithTags) Select(b *database.Builder, id any) *bun.SelectQuery {
	q := b.Select().TableExpr("thing_tags AS tt").Join("JOIN things AS t ON t.id = tt.thing_id AND t.state = 'published'").
		Where("tt.tag_id = ?", id)
	return l.hidden.From(q, b.Arg(database.CallerArg))
}

// ThingsWithTags lists the published things that have a tag, newest first.
func (s *Store) ThingsWithTags(caller auth.Caller) models.List {
	l := models.List{DB: s.core.DB.DB, By: database.Order{ID: "tt.thing_id"},
		Rows: thingsWithTags{models.HiddenFrom(caller)}, Caller: caller.UserID}
	if models.HiddenFrom(caller) == (models.HiddenThings{}) {
		l.Total = s.core.CountWithTags
	}
	return l
}

// FindMakes lists the published makes that match a filter. It returns BadInput if the filter is not
// valid.
func (s *Store) FindMakes(f Filter, sort Sort) (models.List, error) {
	if err := f.check(); err != nil {
		return models.List{}, err
	}
	by := database.Order{ID: "m.id", Ascending: sort == ByOldest}
	switch sort {
	case ByPopular, ByRelevance, ByText, ByLikes:
		by.Key = "m.like_count"
	}
	return models.List{DB: s.core.DB.DB, By: by, Rows: f.rows(allMakes{}, filteredMakes)}, nil
}

// filteredMakes selects the makes that match a filter.
func filteredMakes(b *database.Builder, f Filter) *bun.SelectQuery {
	q := f.objects(publicMakes(b), "m.id", "m.owner_id")
	if f.ThingID != nil {
		q = q.Where("m.thing_id = ?", *f.ThingID)
	}
	return between(q, "m.published_at", f.PublishedAfter, f.PublishedBefore)
}

// FindUsers lists the users that match a filter. It returns BadInput if the filter is not valid.
func (s *Store) FindUsers(f Filter, sort Sort) (models.List, error) {
	if err := f.check(); err != nil {
		return models.List{}, err
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
	return models.List{DB: s.core.DB.DB, By: by, Rows: f.rows(allUsers{}, filteredUsers)}, nil
}

// filteredUsers selects the users that match a filter.
func filteredUsers(b *database.Builder, f Filter) *bun.SelectQuery {
	q := f.objects(b.Select().TableExpr("users AS u").Where("u.deleted_at IS NULL"), "u.id", "")
	return between(q, "u.created_at", f.PublishedAfter, f.PublishedBefore)
}

type allUsers struct{}

func (allUsers) Select(b *database.Builder, _ any) *bun.SelectQuery {
	return filteredUsers(b, Filter{})
}

// UserFilter selects users. A field with its zero value adds no condition.
type UserFilter struct {
	IDs    []int64 // empty but not nil: none
	Prefix string  // of the username, ignoring case
	Role   auth.Role
}

// Users lists the users that match a filter. It returns BadInput if the filter is not valid.
func (s *Store) Users(f UserFilter, sort Sort) (models.List, error) {
	if err := models.CheckText("prefix", f.Prefix, models.MaxName); err != nil {
		return models.List{}, err
	}
	l, err := s.FindUsers(Filter{IDs: f.IDs}, sort)
	rows := l.Rows
	l = l.WithRows(func(b *database.Builder, parent any) *bun.SelectQuery {
		q := rows.Select(b, parent)
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
func (s *Store) FindCollections(f Filter, sort Sort) (models.List, error) {
	if err := f.check(); err != nil {
		return models.List{}, err
	}
	by := database.Order{ID: "co.id", Ascending: sort == ByOldest}
	switch sort {
	case ByPopular, ByRelevance, ByText:
		by.Key = "co.thing_count"
	case ByName:
		by = byName("co.id", "co.sort_name")
	}
	return models.List{DB: s.core.DB.DB, By: by, Rows: f.rows(publicCollections{}, filteredCollections)}, nil
}

// filteredCollections selects the public collections that match a filter.
func filteredCollections(b *database.Builder, f Filter) *bun.SelectQuery {
	q := f.objects(b.Select().TableExpr("collections AS co").Where("co.visibility = 'public'"), "co.id", "co.owner_id")
	if f.LikedByID != nil {
		q = q.Where("co.id IN (SELECT l.target_id FROM likes AS l WHERE l.target_type = 'collection' AND l.user_id = ?)",
			*f.LikedByID)
	}
	if f.IsFeatured != nil && *f.IsFeatured {
		q = q.Where("false") // collections cannot be featured
	}
	return between(q, "co.created_at", f.PublishedAfter, f.PublishedBefore)
}

type publicCollections struct{}

func (publicCollections) Select(b *database.Builder, _ any) *bun.SelectQuery {
	return filteredCollections(b, Filter{})
}
