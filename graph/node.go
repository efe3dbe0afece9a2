package graph

import (
	"context"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
)

// nodes returns the objects with the given node IDs, or nil for an object that does not exist or is
// hidden from the caller. Objects of one type are read together.
func (r *Resolver) nodes(ctx context.Context, ids []string) ([]model.Node, error) {
	l, refs := loadersOf(ctx), make([]*models.NodeRef, len(ids))
	for i, id := range ids {
		refs[i] = new(models.ParseNodeID(id))
	}
	load := map[string]func([]*models.NodeRef) ([]model.Node, error){
		"Thing":      loadNodes(ctx, "Thing", l.things),
		"Collection": loadNodes(ctx, "Collection", l.collections),
		"User":       loadNodes(ctx, "User", l.users),
		"File":       loadNodes(ctx, "File", l.files),
		"Category": func(refs []*models.NodeRef) ([]model.Node, error) {
			tree, err := l.categories()
			if err != nil {
				return nil, err
			}
			return []model.Node{nilOrNode(tree.ByID(refs[0].ID))}, nil
		},
		"Make":            loadNodes(ctx, "Make", l.makes),
		"Comment":         loadNodes(ctx, "Comment", l.comments),
		"Notification":    loadNodes(ctx, "Notification", l.notifications),
		"Report":          loadNodes(ctx, "Report", l.reports),
		"Webhook":         loadNodes(ctx, "Webhook", l.webhooks),
		"WebhookDelivery": loadNodes(ctx, "WebhookDelivery", l.deliveries),
		"AccessToken":     loadNodes(ctx, "AccessToken", l.tokens),
	}
	batch.Add(batch.FromContext(ctx), refs)
	found := make([]model.Node, len(refs))
	for i, ref := range refs {
		if load[ref.Type] == nil {
			continue
		}
		object, err := load[ref.Type](refs[i : i+1])
		if err == nil && object[0] != nil {
			err = checkVisible(ctx, object[0])
		}
		switch models.CodeOf(err) {
		case models.NotFound, models.Forbidden:
			continue
		}
		if err != nil {
			return nil, err
		}
		found[i] = object[0]
	}
	return found, nil
}

// object constrains the types of nodes.
type object interface {
	comparable
	model.Node
}

// loadNodes returns a function that loads the objects of one type in a batch.
func loadNodes[O object](ctx context.Context, typeName string, loader *batch.Loader[O]) func([]*models.NodeRef) ([]model.Node, error) {
	return func(refs []*models.NodeRef) ([]model.Node, error) {
		return batch.LoadAs(ctx, refs, loader, func(ref *models.NodeRef) int64 {
			if ref.Type != typeName {
				return 0
			}
			return ref.ID
		}, nilOrNode)
	}
}

// nilOrNode converts a pointer to a node. A nil pointer becomes a nil interface.
func nilOrNode[O object](o O) model.Node {
	var null O
	if o == null {
		return nil
	}
	return o
}
