package graph

import (
	"context"
	"slices"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/link"
)

// maxPreviewFiles is the maximum number of files of a thing that a preview of a URL lists.
const maxPreviewFiles = 1_000

// thingsOfImports returns the things of imports from URLs, in the order of their IDs.
func thingsOfImports(ctx context.Context, r *Resolver, imports []*link.Import) ([][]*models.Thing, error) {
	of, err := r.Store.Link.Things(ctx, idsOf(imports, func(i *link.Import) int64 { return i.ID }))
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, some := range of {
		ids = append(ids, some...)
	}
	slices.Sort(ids)
	found, err := thingRows.read(ctx, r, ids, accessTo[models.Thing]())
	return convert(imports, err, func(i *link.Import) []*models.Thing {
		all := []*models.Thing{}
		for _, id := range of[i.ID] {
			if t := found[id]; t != nil {
				all = append(all, t)
			}
		}
		return all
	})
}

// readImports reads the caller's imports from URLs for node.
func readImports(ctx context.Context, r *Resolver, ids []int64) (map[int64]model.Node, error) {
	found, err := r.Store.Link.Find(ctx, caller(ctx), ids)
	nodes := make(map[int64]model.Node, len(found))
	for id, i := range found {
		nodes[id] = i
	}
	return nodes, err
}
