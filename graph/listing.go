package graph

import (
	"context"
	"strings"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
)

// thingList returns the name of the list of all things in a sort order.
func thingList(sort models.Sort) string { return "things " + string(sort) }

// listing returns a numbered page of all published things, for the deprecated listing fields.
func (r *Resolver) listing(ctx context.Context, sort models.Sort, page, perPage int32, after *string) ([]*models.Thing, error) {
	if err := inRange("perPage", perPage, maxFirst); err != nil {
		return nil, err
	}
	filter := models.Filter{}
	filter.Hide(caller(ctx))
	list, err := r.Store.Things(filter, sort)
	if err != nil {
		return nil, err
	}
	if after == nil {
		after = new(PageCursor(int(page)))
	}
	args := pageArgs{first: &perPage, after: after}
	c, err := thingsOf(ctx, thingList(sort), list, args, loadersOf(ctx).root, rootID)
	if err != nil {
		return nil, err
	}
	return c.Nodes, nil
}

// names returns up to n distinct names of the things that a search found, ignoring case.
func (r *Resolver) names(ctx context.Context, found *models.SearchResult, n int) ([]string, error) {
	pages, err := found.Page(ctx, []int64{0}, models.Slice{First: maxFirst})
	if err != nil {
		return nil, err
	}
	entries := pages[0].Entries
	batch.Add(batch.FromContext(ctx), entries)
	things, err := batch.Load(ctx, entries, loadersOf(ctx).things, func(e *models.Entry) int64 { return e.NodeID })
	names, seen := []string{}, make(map[string]bool)
	for _, t := range things {
		if t != nil && len(names) < n && !seen[strings.ToLower(t.Name)] {
			seen[strings.ToLower(t.Name)] = true
			names = append(names, t.Name)
		}
	}
	return names, err
}

// explainPopularity returns the popularity score of a thing with the points of each day.
func explainPopularity(days []models.PopularityDay) *model.Popularity {
	p := &model.Popularity{Days: make([]*models.PopularityDay, len(days))}
	for i, d := range days {
		p.Days[i] = &d
		p.Score += d.Points()
	}
	return p
}

// facetsOf converts the facets of a search. They form a batch.
func facetsOf[F comparable, V any](ctx context.Context, counts []models.Facet[V], as func(model.Facet[V]) F) []F {
	facets := make([]F, len(counts))
	for i, c := range counts {
		facets[i] = as(model.Facet[V]{Value: c.Value, Count: int32(c.Count)})
	}
	batch.Add(batch.FromContext(ctx), facets)
	return facets
}

// orEmpty returns an empty list instead of nil, because GraphQL writes nil as null.
func orEmpty[V any](list []V) []V {
	if list == nil {
		return []V{}
	}
	return list
}
