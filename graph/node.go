package graph

import (
	"context"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
)

// nodeReaders read the objects that implement Node, by the name of their type.
var nodeReaders = map[string]nodeReader{
	"Thing":           readAny(thingRows),
	"Collection":      readAny(collectionRows),
	"User":            readAny(userRows),
	"File":            readAny(fileRows),
	"Make":            readAny(makeRows),
	"Comment":         readAny(commentRows),
	"Notification":    readAny(notificationRows),
	"Report":          readAny(reportRows),
	"Webhook":         readAny(webhookRows),
	"WebhookDelivery": readAny(deliveryRows),
	"Printer":         readAny(printerRows),
	"PrintJob":        readAny(printJobRows),
	"AccessToken":     readAny(tokenRows),
	"LinkImport":      readImports,
	"Category": func(ctx context.Context, _ *Resolver, ids []int64) (map[int64]model.Node, error) {
		tree, err := operationOf(ctx).categories()
		if err != nil {
			return nil, err
		}
		found := make(map[int64]model.Node)
		for _, id := range ids {
			if c := tree.ByID(id); c != nil {
				found[id] = c
			}
		}
		return found, nil
	},
}

// nodes returns the objects with the given node IDs, or nil for an object that does not exist or is
// hidden from the caller. Objects of one type are read together.
func (r *Resolver) nodes(ctx context.Context, nodeIDs []string) ([]model.Node, error) {
	refs, ids := make([]models.NodeRef, len(nodeIDs)), make(map[string][]int64)
	for i, id := range nodeIDs {
		refs[i] = models.ParseNodeID(id)
		ids[refs[i].Type] = append(ids[refs[i].Type], refs[i].ID)
	}
	objects := make(map[models.NodeRef]model.Node)
	var all []model.Node
	for name, ids := range ids {
		read := nodeReaders[name]
		if read == nil {
			continue
		}
		found, err := read(ctx, r, ids)
		if err != nil {
			return nil, err
		}
		for id, o := range found {
			objects[models.NodeRef{Type: name, ID: id}] = o
			all = append(all, o)
		}
	}
	hidden, err := r.hidden(ctx, all)
	if err != nil {
		return nil, err
	}
	nodes := make([]model.Node, len(refs))
	for i, ref := range refs {
		if o := objects[ref]; o != nil && hidden[o] == nil {
			nodes[i] = o
		}
	}
	return nodes, nil
}
