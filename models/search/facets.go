package search

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/lists"
)

// Facet is the number of results that have a value in common.
type Facet[V any] struct {
	Value V
	Count int64
}

// Facets holds the most frequent values of the things in a search result, most frequent first.
type Facets struct {
	Categories []Facet[*models.Category] // including results in descendants
	Licenses   []Facet[models.License]
	Tags       []Facet[*models.Tag]
	Creators   []Facet[int64] // user IDs
	Formats    []Facet[mesh.Format]
	Tree       *models.CategoryTree // the categories
}

// maxFacets is the maximum number of values of each facet.
const maxFacets = 100

// facet describes how the values of a facet are counted.
type facet struct {
	name, join, value, n string
	// clear removes the conditions on the values of the facet from a filter, and reports whether it
	// had any.
	clear func(*lists.Filter) bool
}

// facets are all facets. The columns of found are those of the things in the result.
var facets = []facet{
	{"category", "", "found.category_id", "count(*)", func(f *lists.Filter) bool { return cleared(&f.CategoryIDs) }},
	{"license", "", "found.license", "count(*)", func(f *lists.Filter) bool { return cleared(&f.Licenses) }},
	{"creator", "", "found.owner_id", "count(*)", func(f *lists.Filter) bool { return cleared(&f.CreatorIDs) }},
	{"tag", "JOIN thing_tags AS tt ON tt.thing_id = found.id", "tt.tag_id", "count(*)",
		func(f *lists.Filter) bool { return cleared(&f.Tags) }},
	{"format", "JOIN files AS f ON f.target_id = found.id AND " + lists.ShownModels, "f.format",
		"count(DISTINCT found.id)",
		func(f *lists.Filter) bool { return cleared(&f.Formats) }},
}

func cleared[V any](list *[]V) bool {
	had := len(*list) > 0
	*list = nil
	return had
}

// facetCounts caches the facets of a result, so that they are counted only once.
type facetCounts struct {
	once  sync.Once
	known *Facets
	total int64
	err   error
}

// Facets counts the values of the things in the result, up to maxFound of them, in one statement,
// which also reads the categories and the tags. Each facet ignores the filter's own list for that
// facet, so that it also has the values that are not selected. It returns at most first values of
// each facet, and at most 100. Results of other types than things have no facets.
func (f *SearchResult) Facets(ctx context.Context, first int) (*Facets, error) {
	if f.kind != SearchThings {
		return &Facets{Tree: new(models.CategoryTree)}, nil
	}
	f.countFacets(ctx)
	if f.facets.err != nil {
		return nil, f.facets.err
	}
	all := f.facets.known
	return &Facets{
		Categories: most(all.Categories, first), Licenses: most(all.Licenses, first), Tags: most(all.Tags, first),
		Creators: most(all.Creators, first), Formats: most(all.Formats, first), Tree: all.Tree,
	}, nil
}

// CountWithFacets returns the number of results, up to maxFound, from the statement that counts the
// facets. ok is false if that statement does not count the same results as Count.
func (f *SearchResult) CountWithFacets(ctx context.Context) (n int64, ok bool, err error) {
	if f.kind != SearchThings || f.sort == lists.ByFeatured || f.Bound != models.MaxFound {
		return 0, false, nil
	}
	f.countFacets(ctx)
	return f.facets.total, true, f.facets.err
}

// most returns the first values of a facet.
func most[V any](values []Facet[V], first int) []Facet[V] { return values[:min(first, len(values))] }

// countFacets counts the facets and the results, once.
func (f *SearchResult) countFacets(ctx context.Context) {
	f.facets.once.Do(func() { f.facets.known, f.facets.total, f.facets.err = f.readFacets(ctx) })
}

// facetRow is a value of a facet, a category, or the number of results.
type facetRow struct {
	Facet, Value string
	N            int64

	// Of tags and categories:

	Name, Slug string
	ParentID   int64
	ThingCount int64
	Changes    models.Changes
}

func (f *SearchResult) readFacets(ctx context.Context) (*Facets, int64, error) {
	db := f.DB.Read
	of := func(filter lists.Filter) *bun.SelectQuery {
		return f.things(filter).ColumnExpr("t.id, t.category_id, t.license, t.owner_id").Limit(models.MaxFound)
	}
	// Facets for which the filter has no list share the same found things.
	statement := db.NewSelect().With("found", of(f.filter))
	var counted *bun.SelectQuery
	for _, facet := range facets {
		from := "found"
		if others := f.filter; facet.clear(&others) {
			from = "found_" + facet.name
			statement = statement.With(from, of(others))
		}
		part := db.NewSelect().TableExpr("? AS found", bun.Ident(from)).
			ColumnExpr("? AS facet, CAST(? AS text) AS value, ? AS n", facet.name, bun.Safe(facet.value), bun.Safe(facet.n)).
			GroupExpr("?", bun.Safe(facet.value)).OrderExpr("n DESC, value")
		if facet.join != "" {
			part = part.Join(facet.join)
		}
		if facet.name != "category" { // all categories are needed to count descendants
			part = part.Limit(maxFacets)
		}
		part = db.NewSelect().TableExpr("(?) AS part", part).ColumnExpr("part.facet, part.value, part.n")
		if facet.name == "tag" {
			part = models.PendingCounts(part.Join("JOIN tags AS g ON g.id = CAST(part.value AS bigint)").
				ColumnExpr("g.name, g.slug, 0 AS parent_id, g.thing_count"), "tags", "g")
		} else {
			part = part.ColumnExpr("'' AS name, '' AS slug, 0 AS parent_id, 0 AS thing_count, '' AS changes")
		}
		if counted == nil {
			counted = part
		} else {
			counted = counted.UnionAll(part)
		}
	}
	categories := db.NewSelect().TableExpr("categories AS c").
		ColumnExpr("'categories' AS facet, CAST(c.id AS text) AS value, 0 AS n, c.name, c.slug, coalesce(c.parent_id, 0) AS parent_id, c.thing_count")
	total := db.NewSelect().TableExpr("found").
		ColumnExpr("'total' AS facet, '' AS value, count(*) AS n, '' AS name, '' AS slug, 0 AS parent_id, 0 AS thing_count, '' AS changes")
	counted = counted.UnionAll(models.PendingCounts(categories, "categories", "c")).UnionAll(total)
	var rows []facetRow
	if err := statement.TableExpr("(?) AS facets", counted).OrderExpr("facet, n DESC, value").
		Scan(ctx, &rows); err != nil {
		return nil, 0, err
	}
	return facetsFrom(ctx, rows)
}

// facetsFrom returns the facets and the number of results from the rows of the statement.
func facetsFrom(ctx context.Context, rows []facetRow) (*Facets, int64, error) {
	found, total := new(Facets), int64(0)
	own := make(map[int64]int64) // category IDs to the number of results in them
	var categories []*models.Category
	for _, row := range rows {
		switch row.Facet {
		case "license":
			found.Licenses = append(found.Licenses, Facet[models.License]{models.License(row.Value), row.N})
			continue
		case "format":
			if format := mesh.Format(row.Value); slices.Contains(mesh.Formats, format) {
				found.Formats = append(found.Formats, Facet[mesh.Format]{format, row.N})
			}
			continue
		case "total":
			total = row.N
			continue
		}
		id, err := strconv.ParseInt(row.Value, 10, 64)
		if err != nil {
			return nil, 0, err
		}
		switch row.Facet {
		case "category":
			own[id] = row.N
		case "categories":
			c := &models.Category{ID: id, Name: row.Name, Slug: row.Slug, ParentID: row.ParentID, OwnCount: row.ThingCount,
				Changes: row.Changes}
			if err := c.AfterScanRow(ctx); err != nil {
				return nil, 0, err
			}
			categories = append(categories, c)
		case "tag":
			g := &models.Tag{ID: id, Name: row.Name, Slug: row.Slug, ThingCount: row.ThingCount, Changes: row.Changes}
			if err := g.AfterScanRow(ctx); err != nil {
				return nil, 0, err
			}
			found.Tags = append(found.Tags, Facet[*models.Tag]{g, row.N})
		case "creator":
			found.Creators = append(found.Creators, Facet[int64]{id, row.N})
		}
	}
	slices.SortFunc(categories, func(a, b *models.Category) int { return cmp.Compare(a.ID, b.ID) })
	found.Tree = models.NewCategoryTree(categories)
	within := make(map[*models.Category]int64) // number of results in a category and its descendants
	for id, n := range own {
		for c, depth := found.Tree.ByID(id), 0; c != nil && depth < len(categories); c, depth = c.Parent, depth+1 {
			within[c] += n
		}
	}
	for c, n := range within {
		found.Categories = append(found.Categories, Facet[*models.Category]{c, n})
	}
	slices.SortFunc(found.Categories, func(a, b Facet[*models.Category]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value.ID, b.Value.ID))
	})
	return found, total, nil
}
