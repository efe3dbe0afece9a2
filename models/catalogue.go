package models

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// Filter says which things, makes, users or collections are wanted; what is zero does not matter.
type Filter struct {
	Creator         string     // the creator's name, "me" for the caller; Resolve makes it CreatorID
	CreatorID       int64      // things, makes, collections
	CategoryID      int64      // things in that category or one below it
	Tag             string     // things
	License         License    // things
	IsFeatured      *bool      // things
	IsWIP           *bool      // things
	IsDerivative    *bool      // things
	HasMakes        *bool      // things
	LikedByID       int64      // things
	MadeByID        int64      // things
	CollectedByID   int64      // things
	ThingID         int64      // makes
	PublishedAfter  *time.Time // published, or made, at that time or later
	PublishedBefore *time.Time // earlier than that
	mayShowDrafts   bool       // the creator's own
}

// noID is the id of no object.
const noID = -1

// Resolve finds the creator that the filter names. The name of no user matches nothing.
func (s *Store) Resolve(ctx context.Context, caller auth.Caller, f *Filter) error {
	if f.Creator == "" {
		return nil
	}
	u, err := s.User(ctx, caller, f.Creator)
	if CodeOf(err) == NotFound {
		f.Creator, f.CreatorID = "", noID // like an unknown tag or category, it matches nothing
		return nil
	}
	if err != nil {
		return err
	}
	if f.CreatorID != 0 && f.CreatorID != u.ID {
		return badInput("creator", "creator: %s is not the user with the id %d", f.Creator, f.CreatorID)
	}
	f.Creator, f.CreatorID = "", u.ID
	return nil
}

// Sort is what a search is sorted by.
type Sort string

// The sorts of searches.
const (
	// by text and popularity together; as popular where there is no text
	ByRelevance Sort = "relevance"
	ByText      Sort = "text" // by text first
	ByPopular   Sort = "popular"
	ByNewest    Sort = "newest"
	ByMakes     Sort = "makes"
	ByDesigns   Sort = "designs"
	ByFollowers Sort = "followers"
	ByFeatured  Sort = "featured" // the latest featured first, and featured things alone
)

// MaxFound is how many entries of a search are counted.
const MaxFound = 10_000

// Things lists the published things that pass a filter.
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
	case ByFeatured:
		by.Key = "t.featured_at"
	}
	l := List{DB: s.db.DB, By: by, Rows: func(int64) *bun.SelectQuery {
		q := s.things(f)
		if sort == ByFeatured {
			q = q.Where("t.featured_at IS NOT NULL")
		}
		return q
	}}
	if f == (Filter{}) && sort != ByFeatured {
		l.Total = s.CountPublished
	}
	return l, nil
}

// ThingsOfUsers lists the things of users, the latest first; drafts for the user alone.
func (s *Store) ThingsOfUsers(caller auth.Caller) List {
	return List{DB: s.db.DB, By: database.Order{ID: "t.id"}, Rows: func(userID int64) *bun.SelectQuery {
		return s.things(Filter{CreatorID: userID, mayShowDrafts: userID == caller.UserID})
	}}
}

// ThingsInCategories lists the published things on categories and on those below them, the latest
// first.
func (s *Store) ThingsInCategories() List {
	return List{DB: s.db.DB, By: database.Order{Key: "t.published_at", Time: true, ID: "t.id"}, Rows: func(id int64) *bun.SelectQuery {
		return s.things(Filter{CategoryID: id})
	}}
}

// ThingsWithTags lists the published things under tags, the latest first.
func (s *Store) ThingsWithTags() List {
	return List{DB: s.db.DB, By: database.Order{ID: "tt.thing_id"}, Rows: func(id int64) *bun.SelectQuery {
		return s.db.Read.NewSelect().TableExpr("thing_tags AS tt").Join("JOIN things AS t ON t.id = tt.thing_id AND t.state = 'published'").Where("tt.tag_id = ?", id)
	}}
}

// Remixes lists the published things that were made from others, the latest first.
func (s *Store) Remixes() List {
	return List{DB: s.db.DB, By: database.Order{ID: "ta.thing_id"}, Rows: func(id int64) *bun.SelectQuery {
		return s.db.Read.NewSelect().TableExpr("thing_ancestors AS ta").Join("JOIN things AS t ON t.id = ta.thing_id AND t.state = 'published'").Where("ta.ancestor_id = ?", id)
	}}
}

// Ancestors lists the things that others were made from, as far as they show themselves to the
// caller, in the order in which they were named.
func (s *Store) Ancestors(caller auth.Caller) List {
	return List{DB: s.db.DB, By: database.Order{Key: "ta.position", ID: "ta.ancestor_id", Ascending: true}, Rows: func(id int64) *bun.SelectQuery {
		return s.db.Read.NewSelect().TableExpr("thing_ancestors AS ta").Join("JOIN things AS t ON t.id = ta.ancestor_id AND (t.state = 'published' OR t.owner_id = ?)", caller.UserID).Where("ta.thing_id = ?", id)
	}}
}

// FindMakes lists the published makes that pass a filter.
func (s *Store) FindMakes(f Filter, sort Sort) (List, error) {
	if err := f.check(); err != nil {
		return List{}, err
	}
	by := database.Order{ID: "m.id"}
	if sort == ByPopular || sort == ByRelevance || sort == ByText {
		by.Key = "m.like_count"
	}
	return List{DB: s.db.DB, By: by, Rows: func(int64) *bun.SelectQuery {
		q := s.makes()
		q = f.creator(q, "m.owner_id")
		if f.ThingID != 0 {
			q = q.Where("m.thing_id = ?", f.ThingID)
		}
		return f.posted(q, "m.published_at")
	}}, nil
}

// FindUsers lists the users that pass a filter.
func (s *Store) FindUsers(f Filter, sort Sort) (List, error) {
	if err := f.check(); err != nil {
		return List{}, err
	}
	by := database.Order{ID: "u.id", Key: "u.thing_count"}
	switch sort {
	case ByFollowers:
		by.Key = "u.follower_count"
	case ByMakes:
		by.Key = "u.make_count"
	case ByNewest:
		by.Key = ""
	}
	return List{DB: s.db.DB, By: by, Rows: func(int64) *bun.SelectQuery {
		return f.posted(s.db.Read.NewSelect().TableExpr("users AS u").Where("u.deleted_at IS NULL"), "u.created_at")
	}}, nil
}

// FindCollections lists the collections that pass a filter.
func (s *Store) FindCollections(f Filter, sort Sort) (List, error) {
	if err := f.check(); err != nil {
		return List{}, err
	}
	by := database.Order{ID: "co.id"}
	if sort == ByPopular || sort == ByRelevance || sort == ByText {
		by.Key = "co.thing_count"
	}
	return List{DB: s.db.DB, By: by, Rows: func(int64) *bun.SelectQuery {
		return f.posted(f.creator(s.db.Read.NewSelect().TableExpr("collections AS co"), "co.owner_id"), "co.created_at")
	}}, nil
}

// check checks that texts and times are such as a database takes.
func (f Filter) check() error {
	for field, at := range map[string]*time.Time{"publishedAfter": f.PublishedAfter, "publishedBefore": f.PublishedBefore} {
		if at != nil && (at.UTC().Year() < 1 || at.UTC().Year() > 9999) {
			return badInput(field, "%s: the year %d is not between 1 and 9999", field, at.UTC().Year()).WithFieldCode(apierror.FieldOutOfRange)
		}
	}
	return errors.Join(text("tag", f.Tag, maxTag), text("license", string(f.License), maxTag))
}

func (f Filter) creator(q *bun.SelectQuery, column string) *bun.SelectQuery {
	if f.CreatorID != 0 {
		return q.Where("? = ?", bun.Safe(column), f.CreatorID)
	}
	return q
}

func (f Filter) posted(q *bun.SelectQuery, column string) *bun.SelectQuery {
	if f.PublishedAfter != nil {
		q = q.Where("? >= ?", bun.Safe(column), f.PublishedAfter.UTC())
	}
	if f.PublishedBefore != nil {
		q = q.Where("? < ?", bun.Safe(column), f.PublishedBefore.UTC())
	}
	return q
}

// things selects the things that pass a filter.
func (s *Store) things(f Filter) *bun.SelectQuery {
	q := s.db.Read.NewSelect().TableExpr("things AS t")
	if !f.mayShowDrafts {
		q = q.Where("t.state = 'published'")
	}
	q = f.posted(f.creator(q, "t.owner_id"), "t.published_at")
	if f.CategoryID != 0 {
		q = q.Where("t.category_id IN (?)", below(f.CategoryID))
	}
	if f.Tag != "" {
		q = q.Where("t.id IN (SELECT tt.thing_id FROM thing_tags AS tt JOIN tags AS g ON g.id = tt.tag_id WHERE g.slug = ?)", tagSlug(f.Tag))
	}
	if f.License != "" {
		q = q.Where("t.license = ?", f.License)
	}
	if f.LikedByID != 0 {
		q = q.Where("t.id IN (SELECT l.target_id FROM likes AS l WHERE l.target_type = 'thing' AND l.user_id = ?)", f.LikedByID)
	}
	if f.MadeByID != 0 {
		q = q.Where("t.id IN (SELECT m.thing_id FROM makes AS m WHERE m.state = 'published' AND m.owner_id = ?)", f.MadeByID)
	}
	if f.CollectedByID != 0 {
		q = q.Where("t.id IN (SELECT ct.thing_id FROM collection_things AS ct JOIN collections AS co ON co.id = ct.collection_id WHERE co.owner_id = ?)", f.CollectedByID)
	}
	q = whether(q, f.IsFeatured, "t.featured_at IS NOT NULL")
	q = whether(q, f.IsWIP, "t.is_wip")
	q = whether(q, f.IsDerivative, "t.is_derivative")
	return whether(q, f.HasMakes, "EXISTS (SELECT 1 FROM makes AS m WHERE m.thing_id = t.id AND m.state = 'published')")
}

func whether(q *bun.SelectQuery, wanted *bool, condition string) *bun.SelectQuery {
	switch {
	case wanted == nil:
		return q
	case *wanted:
		return q.Where(condition)
	}
	return q.Where("NOT (" + condition + ")")
}
