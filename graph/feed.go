package graph

import (
	"context"
	"maps"
	"slices"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
)

// feedItems loads the objects of feed entries. The objects of each type form a batch.
func feedItems(ctx context.Context, store *models.Store, ids []int64) (map[int64]model.FeedItem, error) {
	found, err := store.FeedItemsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	all := make(map[int64]model.FeedItem, len(ids))
	addItems(ctx, all, found.Things)
	addItems(ctx, all, found.Makes)
	addItems(ctx, all, found.Collections)
	return all, nil
}

func addItems[O interface {
	comparable
	model.FeedItem
}](ctx context.Context, all map[int64]model.FeedItem, objects map[int64]O) {
	batch.Add(batch.FromContext(ctx), slices.Collect(maps.Values(objects)))
	for id, o := range objects {
		all[id] = o
	}
}
