package graph

import (
	"context"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/lists"
	"github.com/meshyard/meshyard/models/maintenance"
)

// thingList returns the name of the list of all things in a sort order.
func thingList(sort lists.Sort) string { return "things " + string(sort) }

// listing returns a numbered page of all published things, for the deprecated listing fields.
func (r *Resolver) listing(ctx context.Context, sort lists.Sort, page, perPage int32,
	after *string) ([]*models.Thing, error) {
	if err := inRange("perPage", perPage, maxFirst); err != nil {
		return nil, err
	}
	filter := lists.Filter{}
	filter.Hide(caller(ctx))
	list, err := r.Store.Lists.Things(filter, sort)
	if err != nil {
		return nil, err
	}
	if after == nil {
		after = new(PageCursor(int(page)))
	}
	args := pageArgs{first: &perPage, after: after}
	c, err := only(thingsOf(ctx, r, thingList(sort), list, args, theRoot, rootID))
	if err != nil {
		return nil, err
	}
	return c.Nodes, nil
}

// explainPopularity returns the popularity score of a thing with the points of each day.
func explainPopularity(days []maintenance.PopularityDay) *model.Popularity {
	p := &model.Popularity{Days: make([]*maintenance.PopularityDay, len(days))}
	for i, d := range days {
		p.Days[i] = &d
		p.Score += d.Points()
	}
	return p
}

// orEmpty returns an empty list instead of nil, because GraphQL writes nil as null.
func orEmpty[V any](list []V) []V {
	if list == nil {
		return []V{}
	}
	return list
}
