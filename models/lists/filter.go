package lists

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/models"
)

// Filter selects things, makes, users or collections. A field with its zero value adds no
// condition, and neither does an empty list, except for IDs. A pointer to 0, which is not the ID of
// any object, is a condition that matches nothing. Fields that do not apply to the type are
// ignored. A thing matches the conditions on models if one of its models matches all of them.
type Filter struct {
	IDs                   []int64          // all types; empty but not nil: none
	Creators              []string         // usernames, IDs or "me"; Resolve sets CreatorIDs
	CreatorIDs            []int64          // things, makes, collections
	CategoryIDs           []int64          // things in these categories or in their descendants
	Tags                  []string         // things with at least one of these tags
	AllTags               []string         // things with all of these tags
	Licenses              []models.License // things
	Formats               []mesh.Format    // things with a model in one of these formats
	MinSize               *float64         // things with a model at least so many mm long
	MaxSize               *float64         // things with a model at most so many mm long
	MinTriangles          *int64           // things with a model of at least so many triangles
	MaxTriangles          *int64           // things with a model of at most so many triangles
	IsWatertight          *bool            // things with a watertight model, or with one that is not
	FitsBed               *Bed             // things with a model that fits on the bed of a printer
	PrintsWithoutSupports *bool            // things that state that they need no supports
	IsFeatured            *bool            // things, collections; no collection is featured
	IsWIP                 *bool            // things
	IsDerivative          *bool            // things
	HasMakes              *bool            // things
	LikedByID             *int64           // things, collections
	MadeByID              *int64           // things
	CollectedByID         *int64           // things
	ThingID               *int64           // makes
	PublishedAfter        *time.Time
	PublishedBefore       *time.Time // exclusive
	UpdatedAfter          *time.Time // things
	UpdatedBefore         *time.Time // exclusive
	ownCollections        bool       // CollectedByID is the caller
	hidden                models.HiddenThings
	viewerID              int64            // who hides things; 0 if hidden is zero
	Found                 *bun.SelectQuery // the IDs to select things among; nil: all. Only on SQLite
}

// Bed is the space above the bed of a printer, in mm.
type Bed struct{ Width, Depth, Height float64 }

// maxBed is the longest side of a bed in mm.
const maxBed = 100_000

// check returns BadInput for each side that is not positive or too long.
func (b *Bed) check() error {
	if b == nil {
		return nil
	}
	return errors.Join(models.Within("fitsBed.width", &b.Width, 0, maxBed), models.Within("fitsBed.depth", &b.Depth, 0,
		maxBed), models.Within("fitsBed.height", &b.Height, 0, maxBed))
}

// maxFilterList is the maximum length of a list in a filter.
const maxFilterList = 100

// noID is an ID that no object has.
const noID = -1

// IsZero reports whether the filter has no condition.
func (f Filter) IsZero() bool { return reflect.ValueOf(f).IsZero() }

// rows returns the rows of a list of the objects that match the filter: all if it has no condition,
// otherwise those that filtered selects.
func (f Filter) rows(all database.Rows, filtered func(b *database.Builder, f Filter) *bun.SelectQuery) database.Rows {
	if f.hides() {
		return all
	}
	return database.RowsFunc(func(b *database.Builder, _ any) *bun.SelectQuery { return filtered(b, f) })
}

// hides reports whether the filter has no condition but the hidden things.
func (f Filter) hides() bool {
	f.hidden, f.viewerID = models.HiddenThings{}, 0
	return f.IsZero()
}

// Resolve converts the usernames in the filter to IDs, excludes the things that the caller has
// chosen to hide, and includes the private collections of the caller in CollectedByID. The name of
// a user who does not exist matches nothing. It returns BadInput if there are too many names, and
// Unauthenticated or Forbidden if "me" is used without a user.
func (s *Store) Resolve(ctx context.Context, caller auth.Caller, f *Filter) error {
	f.Hide(caller)
	f.ownCollections = f.CollectedByID != nil && *f.CollectedByID == caller.UserID
	if len(f.Creators) == 0 {
		return nil
	}
	if len(f.Creators) > maxFilterList {
		return models.TooMany("creators", len(f.Creators), maxFilterList)
	}
	ids, names := []int64{noID}, []string{}
	for _, name := range f.Creators {
		id, isID := models.UserIDIn(name)
		switch {
		case name == "me":
			if err := models.RequireUser(caller); err != nil {
				return err
			}
			ids = append(ids, caller.UserID)
		case isID:
			ids = append(ids, id)
		case auth.IsUsername(name):
			names = append(names, models.FoldUsername(name))
		}
	}
	if len(names) > 0 {
		var found []int64
		err := s.core.DB.Read.NewSelect().Model((*models.User)(nil)).Column("u.id").
			Where("u.sort_name IN (?) AND u.deleted_at IS NULL", bun.List(names)).Scan(ctx, &found)
		if err != nil {
			return err
		}
		ids = append(ids, found...)
	}
	if len(f.CreatorIDs) > 0 {
		ids = slices.DeleteFunc(ids, func(id int64) bool { return !slices.Contains(f.CreatorIDs, id) })
	}
	if len(ids) > 1 {
		ids = slices.DeleteFunc(ids, func(id int64) bool { return id == noID })
	} else if len(ids) == 0 {
		ids = []int64{noID}
	}
	f.Creators, f.CreatorIDs = nil, ids
	return nil
}

// check returns BadInput if a list or a text is too long, if a number is not finite, or if a text
// or a time cannot be stored in a database.
func (f Filter) check() error {
	times := map[string]*time.Time{
		"publishedAfter": f.PublishedAfter, "publishedBefore": f.PublishedBefore, "updatedAfter": f.UpdatedAfter,
		"updatedBefore": f.UpdatedBefore,
	}
	for _, field := range slices.Sorted(maps.Keys(times)) {
		if at := times[field]; at != nil {
			if err := models.CheckYear(field, *at); err != nil {
				return err
			}
		}
	}
	faults := []error{f.FitsBed.check()}
	sizes := map[string]*float64{"maxSize": f.MaxSize, "minSize": f.MinSize}
	for _, field := range slices.Sorted(maps.Keys(sizes)) {
		// Databases do not compare such numbers alike.
		if size := sizes[field]; size != nil && (math.IsNaN(*size) || math.IsInf(*size, 0)) {
			faults = append(faults, models.Invalid(field, "%s: must be a finite number", field).
				WithFieldCode(apierror.FieldOutOfRange))
		}
	}
	lengths := map[string]int{
		"ids": len(f.IDs), "creatorIds": len(f.CreatorIDs), "categoryIds": len(f.CategoryIDs), "tags": len(f.Tags),
		"allTags": len(f.AllTags), "licenses": len(f.Licenses), "formats": len(f.Formats),
	}
	for _, field := range slices.Sorted(maps.Keys(lengths)) {
		if n := lengths[field]; n > maxFilterList {
			faults = append(faults, models.TooMany(field, n, maxFilterList))
		}
	}
	for i, tag := range f.Tags {
		faults = append(faults, models.CheckText(fmt.Sprintf("tags[%d]", i), tag, models.MaxTag))
	}
	for i, tag := range f.AllTags {
		faults = append(faults, models.CheckText(fmt.Sprintf("allTags[%d]", i), tag, models.MaxTag))
	}
	for _, license := range f.Licenses {
		faults = append(faults, models.CheckText("licenses", string(license), models.MaxTag))
	}
	return errors.Join(faults...)
}

// anyOf adds the condition that a column has one of some values.
func anyOf[V any](q *bun.SelectQuery, column string, values []V) *bun.SelectQuery {
	if len(values) == 1 {
		return q.Where("? = ?", bun.Safe(column), values[0]) // lets an index provide the order, too
	}
	return q.Where("? IN (?)", bun.Safe(column), bun.List(values))
}

// objects adds the conditions that apply to all types of objects.
func (f Filter) objects(q *bun.SelectQuery, id, creator string) *bun.SelectQuery {
	switch {
	case f.IDs != nil && len(f.IDs) == 0:
		q = q.Where("? = ?", bun.Safe(id), noID)
	case f.IDs != nil:
		q = anyOf(q, id, f.IDs)
	}
	if creator != "" && len(f.CreatorIDs) > 0 {
		q = anyOf(q, creator, f.CreatorIDs)
	}
	return q
}

// between adds the condition that the time in a column is in a period.
func between(q *bun.SelectQuery, column string, after, before *time.Time) *bun.SelectQuery {
	if after != nil {
		q = q.Where("? >= ?", bun.Safe(column), after.UTC())
	}
	if before != nil {
		q = q.Where("? < ?", bun.Safe(column), before.UTC())
	}
	return q
}

// FilteredThings selects the things that match a filter.
func FilteredThings(b *database.Builder, f Filter) *bun.SelectQuery {
	q := b.Select()
	if f.Found == nil {
		q = q.TableExpr("things AS t")
	} else {
		// SQLite does not reorder a CROSS JOIN. Without INDEXED BY and without statistics, it would look
		// up rows in the table instead of this index.
		q = q.TableExpr("(?) AS found", f.Found).Join("CROSS JOIN things AS t INDEXED BY things_found ON t.id = found.id")
	}
	q = f.objects(q.Where("t.state = 'published'"), "t.id", "t.owner_id")
	q = between(between(q, "t.published_at", f.PublishedAfter, f.PublishedBefore), "t.modified_at", f.UpdatedAfter,
		f.UpdatedBefore)
	if len(f.CategoryIDs) > 0 {
		q = q.Where("t.category_id IN (?)", below(bun.List(f.CategoryIDs)))
	}
	const tagged = "t.id IN (SELECT tt.thing_id FROM thing_tags AS tt JOIN tags AS g ON g.id = tt.tag_id WHERE g.slug IN (?))"
	if len(f.Tags) > 0 {
		q = q.Where(tagged, bun.List(slugs(f.Tags)))
	}
	for _, slug := range slugs(f.AllTags) {
		q = q.Where(tagged, bun.List([]string{slug}))
	}
	if len(f.Licenses) > 0 {
		q = anyOf(q, "t.license", f.Licenses)
	}
	if models := filteredModels(b, f); models != nil {
		q = q.Where("EXISTS (?)", models)
	}
	if f.LikedByID != nil {
		q = q.Where("t.id IN (SELECT l.target_id FROM likes AS l WHERE l.target_type = 'thing' AND l.user_id = ?)",
			*f.LikedByID)
	}
	if f.MadeByID != nil {
		q = q.Where("t.id IN (SELECT m.thing_id FROM makes AS m WHERE m.state = 'published' AND m.owner_id = ?)", *f.MadeByID)
	}
	if f.CollectedByID != nil {
		collections := b.Select().TableExpr("collection_things AS ct").Column("ct.thing_id").
			Join("JOIN collections AS co ON co.id = ct.collection_id").Where("co.owner_id = ?", *f.CollectedByID)
		if !f.ownCollections {
			collections = collections.Where("co.visibility = 'public'")
		}
		q = q.Where("t.id IN (?)", collections)
	}
	q = f.hidden.From(q, f.viewerID)
	q = whether(q, f.IsFeatured, "t.featured_at IS NOT NULL")
	q = whether(q, f.IsWIP, "t.is_wip")
	q = whether(q, f.PrintsWithoutSupports, withoutSupports)
	q = whether(q, f.IsDerivative, "t.is_derivative")
	return whether(q, f.HasMakes, "EXISTS (SELECT 1 FROM makes AS m WHERE m.thing_id = t.id AND m.state = 'published')")
}

// ShownModels is the condition that the file f is a model of a thing. The covering index
// files_models answers it without reading the rows. SQLite uses this partial index only if the last
// condition is written exactly like this.
const ShownModels = "f.target_type = 'thing' AND f.kind = 'model' AND f.state = 'finalized' AND f.format IS NOT NULL"

// withoutSupports is the condition that the print settings of the thing t, which are JSON, state
// that no supports are needed. Quotation marks within a JSON text are escaped, so only a value of
// the key matches.
const withoutSupports = `(lower(t.details_parts) LIKE '%"supports":"no"%' OR lower(t.details_parts) LIKE '%"supports": "no"%')`

// filteredModels selects the models of the thing t that match a filter. It returns nil if the
// filter has no condition on models.
func filteredModels(b *database.Builder, f Filter) *bun.SelectQuery {
	q := b.Select().ColumnExpr("1").TableExpr("files AS f").Where("f.target_id = t.id AND " + ShownModels)
	conditions := 0
	where := func(condition string, value any) {
		conditions++
		q = q.Where(condition, value)
	}
	if len(f.Formats) > 0 {
		where("f.format IN (?)", bun.List(f.Formats))
	}
	if f.MinSize != nil {
		where("f.longest_mm >= ?", *f.MinSize)
	}
	if f.MaxSize != nil {
		where("f.longest_mm <= ?", *f.MaxSize)
	}
	if f.FitsBed != nil { // the model may be turned by 90 degrees
		where("f.short_mm <= ?", min(f.FitsBed.Width, f.FitsBed.Depth))
		where("f.long_mm <= ?", max(f.FitsBed.Width, f.FitsBed.Depth))
		where("f.height_mm <= ?", f.FitsBed.Height)
	}
	if f.MinTriangles != nil {
		where("f.triangles >= ?", *f.MinTriangles)
	}
	if f.MaxTriangles != nil {
		where("f.triangles <= ?", *f.MaxTriangles)
	}
	if f.IsWatertight != nil {
		where("f.watertight = ?", *f.IsWatertight)
	}
	if conditions == 0 {
		return nil
	}
	return q
}

// slugs returns the slugs of tags.
func slugs(tags []string) []string {
	all := make([]string, len(tags))
	for i, tag := range tags {
		all[i] = models.TagSlug(tag)
	}
	return all
}

// below returns a query for the IDs of categories and all their descendants, given one ID or a
// list.
func below(ids any) schema.QueryAppender {
	return bun.SafeQuery(
		"WITH RECURSIVE below (id) AS (SELECT r.id FROM categories AS r WHERE r.id IN (?) UNION SELECT c.id FROM categories AS c JOIN below ON c.parent_id = below.id) SELECT id FROM below", ids)
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

// Hide excludes the things that the caller has chosen to hide in lists.
func (f *Filter) Hide(caller auth.Caller) {
	if f.hidden = models.HiddenFrom(caller); f.hidden != (models.HiddenThings{}) {
		f.viewerID = caller.UserID
	}
}
