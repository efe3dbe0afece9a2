package models

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Facet is the number of results that have a value in common.
type Facet[V any] struct {
	Value V
	Count int64
}

// Facets are the most frequent values of the things in a search result, by number.
type Facets struct {
	Categories []Facet[int64] // ids; results in descendants count
	Licenses   []Facet[License]
	Tags       []Facet[int64] // ids
	Creators   []Facet[int64] // ids of users
	Formats    []Facet[mesh.Format]
}

// maxFacets is the maximum number of values of each facet.
const maxFacets = 100

// facet is how the values of a facet are counted.
type facet struct {
	name, join, value, n string
	// clear removes the conditions on the values of the facet from a filter, and reports whether it
	// had any.
	clear func(*Filter) bool
}

// facets are all facets. The columns of found are those of the things in the result.
var facets = []facet{
	{"category", "", "found.category_id", "count(*)", func(f *Filter) bool { return cleared(&f.CategoryIDs) }},
	{"license", "", "found.license", "count(*)", func(f *Filter) bool { return cleared(&f.Licenses) }},
	{"creator", "", "found.owner_id", "count(*)", func(f *Filter) bool { return cleared(&f.CreatorIDs) }},
	{"tag", "JOIN thing_tags AS tt ON tt.thing_id = found.id", "tt.tag_id", "count(*)", func(f *Filter) bool { return cleared(&f.Tags) }},
	{"format", "JOIN files AS f ON f.target_id = found.id AND " + shownModels, "f.format", "count(DISTINCT found.id)",
		func(f *Filter) bool { return cleared(&f.Formats) }},
}

func cleared[V any](list *[]V) bool {
	had := len(*list) > 0
	*list = nil
	return had
}

// facetCounts are the facets of a result, which are counted once however often they are asked for.
type facetCounts struct {
	once  sync.Once
	known *Facets
	err   error
}

// Facets counts the values of the things in the result, up to MaxFound of them, in one statement. A
// facet counts the things that the result would have without the filter's own list for the facet,
// so that it also has the values that are not selected. It returns at most first values of each
// facet, and at most 100. For other types than things there are none. tree holds all categories.
func (f *SearchResult) Facets(ctx context.Context, tree *CategoryTree, first int) (*Facets, error) {
	if f.kind != SearchThings {
		return new(Facets), nil
	}
	f.facets.once.Do(func() { f.facets.known, f.facets.err = f.countFacets(ctx, tree) })
	if f.facets.err != nil {
		return nil, f.facets.err
	}
	all := f.facets.known
	return &Facets{
		Categories: most(all.Categories, first), Licenses: most(all.Licenses, first), Tags: most(all.Tags, first),
		Creators: most(all.Creators, first), Formats: most(all.Formats, first),
	}, nil
}

// most returns the first values of a facet.
func most[V any](values []Facet[V], first int) []Facet[V] { return values[:min(first, len(values))] }

func (f *SearchResult) countFacets(ctx context.Context, tree *CategoryTree) (*Facets, error) {
	db := f.DB.Read
	of := func(filter Filter) *bun.SelectQuery {
		return f.things(filter).ColumnExpr("t.id, t.category_id, t.license, t.owner_id").Limit(MaxFound)
	}
	// Facets without conditions of their own share the things that were found.
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
		if facet.name != "category" { // of which all are needed to count descendants
			part = part.Limit(maxFacets)
		}
		part = db.NewSelect().TableExpr("(?) AS part", part)
		if counted == nil {
			counted = part
		} else {
			counted = counted.UnionAll(part)
		}
	}
	var rows []struct {
		Facet, Value string
		N            int64
	}
	if err := statement.TableExpr("(?) AS facets", counted).OrderExpr("facet, n DESC, value").Scan(ctx, &rows); err != nil {
		return nil, err
	}
	found := new(Facets)
	within := make(map[int64]int64) // categories to the results in them and their descendants
	for _, row := range rows {
		switch row.Facet {
		case "license":
			found.Licenses = append(found.Licenses, Facet[License]{License(row.Value), row.N})
			continue
		case "format":
			if format := mesh.Format(row.Value); slices.Contains(mesh.Formats, format) {
				found.Formats = append(found.Formats, Facet[mesh.Format]{format, row.N})
			}
			continue
		}
		id, err := strconv.ParseInt(row.Value, 10, 64)
		if err != nil {
			return nil, err
		}
		switch row.Facet {
		case "category":
			for c, depth := tree.ByID(id), 0; c != nil && depth < len(tree.All); c, depth = c.Parent, depth+1 {
				within[c.ID] += row.N
			}
		case "tag":
			found.Tags = append(found.Tags, Facet[int64]{id, row.N})
		case "creator":
			found.Creators = append(found.Creators, Facet[int64]{id, row.N})
		}
	}
	for id, n := range within {
		found.Categories = append(found.Categories, Facet[int64]{id, n})
	}
	slices.SortFunc(found.Categories, func(a, b Facet[int64]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return found, nil
}
