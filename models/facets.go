package models

import (
	"context"
	"strconv"
	"sync"

	"github.com/uptrace/bun"
)

// Facet is the number of results that have a value in common.
type Facet[V any] struct {
	Value V
	Count int64
}

// Facets are the most frequent values of the things in a search result, by number.
type Facets struct {
	Categories []Facet[int64] // ids
	Licenses   []Facet[License]
	Tags       []Facet[int64] // ids
	Creators   []Facet[int64] // ids of users
}

// maxFacets is the maximum number of values of each facet.
const maxFacets = 100

// facetCounts are the facets of a result, which are counted once however often they are asked for.
type facetCounts struct {
	once  sync.Once
	known *Facets
	err   error
}

// Facets counts the values of the things in the result, up to MaxFound of them, in one statement.
// It returns at most first values of each facet, and at most 100. For other types than things there
// are none.
func (f *SearchResult) Facets(ctx context.Context, first int) (*Facets, error) {
	if f.kind != SearchThings {
		return new(Facets), nil
	}
	f.facets.once.Do(func() { f.facets.known, f.facets.err = f.countFacets(ctx) })
	if f.facets.err != nil {
		return nil, f.facets.err
	}
	all := f.facets.known
	return &Facets{
		Categories: all.Categories[:min(first, len(all.Categories))], Licenses: all.Licenses[:min(first, len(all.Licenses))],
		Tags: all.Tags[:min(first, len(all.Tags))], Creators: all.Creators[:min(first, len(all.Creators))],
	}, nil
}

func (f *SearchResult) countFacets(ctx context.Context) (*Facets, error) {
	facets := new(Facets)
	db := f.DB.Read
	common := func(name, value string, of *bun.SelectQuery) *bun.SelectQuery {
		counted := of.ColumnExpr("? AS facet, CAST(? AS text) AS value, count(*) AS n", name, bun.Safe(value)).GroupExpr("?", bun.Safe(value)).
			OrderExpr("n DESC, value").Limit(maxFacets)
		return db.NewSelect().TableExpr("(?) AS part", counted)
	}
	found := func() *bun.SelectQuery { return db.NewSelect().TableExpr("found AS f") }
	var rows []struct {
		Facet, Value string
		N            int64
	}
	err := db.NewSelect().With("found", f.Rows(0).ColumnExpr("t.id, t.category_id, t.license, t.owner_id").Limit(MaxFound)).
		TableExpr("(?) AS facets", common("category", "f.category_id", found()).
			UnionAll(common("license", "f.license", found())).
			UnionAll(common("creator", "f.owner_id", found())).
			UnionAll(common("tag", "tt.tag_id", found().Join("JOIN thing_tags AS tt ON tt.thing_id = f.id")))).
		OrderExpr("facet, n DESC, value").Scan(ctx, &rows)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Facet == "license" {
			facets.Licenses = append(facets.Licenses, Facet[License]{License(row.Value), row.N})
			continue
		}
		id, err := strconv.ParseInt(row.Value, 10, 64)
		if err != nil {
			return nil, err
		}
		of := map[string]*[]Facet[int64]{"category": &facets.Categories, "tag": &facets.Tags, "creator": &facets.Creators}[row.Facet]
		*of = append(*of, Facet[int64]{id, row.N})
	}
	return facets, nil
}
