package graph

import (
	"context"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/lists"
)

// feedPages reads pages of feeds with their items.
func (r *Resolver) feedPages(ctx context.Context, l models.List, parents []int64,
	part models.Slice) (map[int64]models.Page[model.FeedItem], error) {
	pages, err := l.Page(ctx, parents, part)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, page := range pages {
		for _, e := range page.Entries {
			ids = append(ids, *e.Node)
		}
	}
	fields := lists.FeedFields{
		Things: selected(ctx, models.AllThingFields), Makes: selected(ctx, models.AllMakeFields),
		Collections: selected(ctx, models.AllCollectionFields),
	}
	items, err := r.Store.Lists.FeedItemsByID(ctx, caller(ctx), fields, ids)
	found := make(map[int64]models.Page[model.FeedItem], len(pages))
	for parent, page := range pages {
		with := models.Page[model.FeedItem]{More: page.More}
		for _, e := range page.Entries {
			entry := models.Entry[model.FeedItem]{Position: e.Position}
			if item := feedItem(items, *e.Node); item != nil {
				entry.Node = &item
			}
			with.Entries = append(with.Entries, entry)
		}
		found[parent] = with
	}
	return found, err
}

// feedItem returns the item of an entry, or nil if it was deleted.
func feedItem(items lists.FeedItems, id int64) model.FeedItem {
	if t := items.Things[id]; t != nil {
		return t
	}
	if m := items.Makes[id]; m != nil {
		return m
	}
	if c := items.Collections[id]; c != nil {
		return c
	}
	return nil
}
