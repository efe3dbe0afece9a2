package graph

import (
	"context"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/search"
)

// ownedList is a list that belongs to an object.
type ownedList[O any] struct {
	name string // identifies the list; part of its cursors
	list models.List
	id   func(O) int64 // returns the ID by which an owner selects its list, or 0 if it has none
}

// root is the owner of top-level lists, which belong to no object.
type root struct{}

// topLevel returns a list that belongs to no object.
func topLevel(name string, list models.List) ownedList[root] {
	return ownedList[root]{name, list, func(root) int64 { return 1 }}
}

// nodes describes how the nodes of a list are read, and converted to the type in the schema.
type nodes[V, N any] struct {
	pages func(ctx context.Context, l models.List, parents []int64, part models.Slice) (map[int64]models.Page[V], error)
	as    func(*V) N
}

// pagesOf returns a function that reads pages with the fields that the operation selects on their
// nodes.
func pagesOf[T any](r *Resolver, of rows[T]) func(context.Context, models.List, []int64,
	models.Slice) (map[int64]models.Page[T], error) {
	return func(ctx context.Context, l models.List, parents []int64, part models.Slice) (map[int64]models.Page[T], error) {
		return models.Pages(ctx, r.Store.Store, caller(ctx), selected(ctx, of.all), l, parents, part)
	}
}

// nodesOf returns nodes that are not converted.
func nodesOf[T any](r *Resolver, of rows[T]) nodes[T, *T] {
	return nodes[T, *T]{pagesOf(r, of), func(v *T) *T { return v }}
}

// connect returns a page of the list of each owner. One statement reads the pages of all owners
// with their nodes, and another one the lengths of their lists.
func connect[E model.EdgeOf[N], O, V, N any](ctx context.Context, owners []O, on ownedList[O], args pageArgs,
	of nodes[V, N]) ([]*model.Connection[N, E], error) {
	part, err := args.slice(on.name)
	if err != nil {
		return nil, err
	}
	ids := idsOf(owners, on.id)
	counts := sync.OnceValues(func() (map[int64]int64, error) { return on.list.Count(ctx, ids) })
	var pages map[int64]models.Page[V]
	selected := selectedFields(ctx)
	if len(ids) > 0 && (selected.nodes || selected.edges || selected.pageInfo) {
		if pages, err = of.pages(ctx, on.list, ids, part); err != nil {
			return nil, err
		}
	}
	connections := make([]*model.Connection[N, E], len(owners))
	for i, owner := range owners {
		id := on.id(owner)
		c := connection[N, E](selected, on.name, part, pages[id], of.as)
		c.Count = func(context.Context) (int64, error) {
			if id == 0 {
				return 0, nil
			}
			n, err := counts()
			return n[id], err
		}
		connections[i] = c
	}
	return connections, nil
}

// connectRoot is connect for a list that belongs to no object.
func connectRoot[E model.EdgeOf[N], V, N any](ctx context.Context, name string, list models.List, args pageArgs,
	of nodes[V, N]) (*model.Connection[N, E], error) {
	found, err := connect[E](ctx, []root{{}}, topLevel(name, list), args, of)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// connection returns a page as a connection, with its nodes and what else is selected: cursors take
// longer to encode than nodes.
func connection[N any, E model.EdgeOf[N], V any](selected selection, name string, part models.Slice,
	page models.Page[V], as func(*V) N) *model.Connection[N, E] {
	c := &model.Connection[N, E]{Nodes: make([]N, 0, len(page.Entries))}
	if selected.pageInfo {
		c.PageInfo = pageInfo(name, part, page)
	}
	if selected.edges {
		c.Edges = make([]*E, 0, len(page.Entries))
	}
	for _, e := range page.Entries {
		if e.Node == nil {
			continue // deleted since the page was read
		}
		node := as(e.Node)
		c.Nodes = append(c.Nodes, node)
		if selected.edges {
			edge := E(struct {
				Cursor string
				Node   N
			}{cursor(name, e.Position), node})
			c.Edges = append(c.Edges, &edge)
		}
	}
	return c
}

// selection has the fields of a connection that an operation selects.
type selection struct{ nodes, edges, pageInfo, facets bool }

// selectedFields returns the fields that the operation selects on the connection being resolved.
// Other fields that read a list return its nodes, so the result for them is nodes.
func selectedFields(ctx context.Context) (selected selection) {
	connection := graphql.GetFieldContext(ctx).Field.Definition.Type.Name()
	if !strings.HasSuffix(connection, "Connection") {
		return selection{nodes: true}
	}
	for _, field := range graphql.CollectFieldsCtx(ctx, []string{connection}) {
		switch field.Name {
		case "nodes":
			selected.nodes = true
		case "edges":
			selected.edges = true
		case "pageInfo":
			selected.pageInfo = true
		case "facets":
			selected.facets = true
		}
	}
	return selected
}

func pageInfo[V any](list string, part models.Slice, page models.Page[V]) *model.PageInfo {
	info := &model.PageInfo{HasNextPage: page.More, HasPreviousPage: part.After != nil || part.Offset != 0}
	if part.Last > 0 {
		info = &model.PageInfo{HasNextPage: part.Before != nil, HasPreviousPage: page.More}
	}
	if n := len(page.Entries); n > 0 {
		start, end := cursor(list, page.Entries[0].Position), cursor(list, page.Entries[n-1].Position)
		info.StartCursor, info.EndCursor = &start, &end
	}
	return info
}

// The functions below return connections of one type. They convert the connections because each
// type of the schema has a Go type of its own.

func thingsOf[O any](ctx context.Context, r *Resolver, name string, list models.List, args pageArgs, owners []O,
	id func(O) int64) ([]*model.ThingConnection, error) {
	found, err := connect[model.ThingEdge](ctx, owners, ownedList[O]{name, list, id}, args, nodesOf(r, thingRows))
	return convert(found, err, func(c *model.Connection[*models.Thing, model.ThingEdge]) *model.ThingConnection {
		return &model.ThingConnection{Connection: c}
	})
}

func makesOf[O any](ctx context.Context, r *Resolver, name string, list models.List, args pageArgs, owners []O,
	id func(O) int64) ([]*model.MakeConnection, error) {
	found, err := connect[model.MakeEdge](ctx, owners, ownedList[O]{name, list, id}, args, nodesOf(r, makeRows))
	return convert(found, err, func(c *model.Connection[*models.Make, model.MakeEdge]) *model.MakeConnection {
		return &model.MakeConnection{Connection: c}
	})
}

func commentsOf[O any](ctx context.Context, r *Resolver, name string, list models.List, args pageArgs, owners []O,
	id func(O) int64) ([]*model.CommentConnection, error) {
	found, err := connect[model.CommentEdge](ctx, owners, ownedList[O]{name, list, id}, args, nodesOf(r, commentRows))
	return convert(found, err, func(c *model.Connection[*models.Comment, model.CommentEdge]) *model.CommentConnection {
		return &model.CommentConnection{Connection: c}
	})
}

func usersOf[O any](ctx context.Context, r *Resolver, name string, list models.List, args pageArgs, owners []O,
	id func(O) int64) ([]*model.UserConnection, error) {
	found, err := connect[model.UserEdge](ctx, owners, ownedList[O]{name, list, id}, args, nodesOf(r, userRows))
	return convert(found, err, func(c *model.Connection[*models.User, model.UserEdge]) *model.UserConnection {
		return &model.UserConnection{Connection: c}
	})
}

func collectionsOf[O any](ctx context.Context, r *Resolver, name string, list models.List, args pageArgs, owners []O,
	id func(O) int64) ([]*model.CollectionConnection, error) {
	found, err := connect[model.CollectionEdge](ctx, owners, ownedList[O]{name, list, id}, args,
		nodesOf(r, collectionRows))
	return convert(found, err,
		func(c *model.Connection[*models.Collection, model.CollectionEdge]) *model.CollectionConnection {
			return &model.CollectionConnection{Connection: c}
		})
}

func filesOf[O any](ctx context.Context, r *Resolver, name string, list models.List, args pageArgs, owners []O,
	id func(O) int64) ([]*model.FileConnection, error) {
	found, err := connect[model.FileEdge](ctx, owners, ownedList[O]{name, list, id}, args, nodesOf(r, fileRows))
	return convert(found, err, func(c *model.Connection[*models.File, model.FileEdge]) *model.FileConnection {
		return &model.FileConnection{Connection: c}
	})
}

// only returns the only one of the values for one object.
func only[V any](values []V, err error) (value V, _ error) {
	if err != nil {
		return value, err
	}
	return values[0], nil
}

// theRoot is the only owner of a list that belongs to no object.
var theRoot = []root{{}}

func rootID(root) int64 { return 1 }

// ofOwn returns the connections of users that only the user may see. list returns the list of a
// user, or an error unless the user is the caller: it is the error of the connection of that user.
func ofOwn[C any](objs []*models.User, list func(userID int64) (models.List, error),
	connections func(models.List) ([]*C, error)) ([]*C, error) {
	errs := make(graphql.BatchErrorList, len(objs))
	var own *models.List
	failed := false
	for i, u := range objs {
		l, err := list(u.ID)
		if errs[i] = err; err != nil {
			failed = true
			continue
		}
		own = &l
	}
	found := make([]*C, len(objs))
	var err error
	if own != nil {
		found, err = connections(*own)
	}
	if !failed {
		return found, err
	}
	if err != nil {
		found = make([]*C, len(objs))
	}
	for i := range found {
		if errs[i] != nil {
			found[i] = nil
		} else {
			errs[i] = err // one of all connections, such as an invalid argument
		}
	}
	return found, errs
}

// searchHits returns a page of the results of a search.
func searchHits[T any](ctx context.Context, r *Resolver, name string, found *search.SearchResult, args pageArgs,
	of rows[T], as func(*T) model.SearchHit) (*model.SearchConnection, error) {
	c, err := connectRoot[model.HitEdge](ctx, name, found.List, args, nodes[T, model.SearchHit]{pagesOf(r, of), as})
	if err != nil {
		return nil, err
	}
	if selectedFields(ctx).facets {
		count := c.Count
		c.Count = func(ctx context.Context) (int64, error) {
			if n, ok, err := found.CountWithFacets(ctx); ok || err != nil {
				return n, err
			}
			return count(ctx)
		}
	}
	edges := make([]*model.SearchEdge, len(c.Edges))
	for i, e := range c.Edges {
		edges[i] = &model.SearchEdge{HitEdge: *e, Words: found.Query}
	}
	return &model.SearchConnection{Connection: c, Edges: edges, Found: found}, nil
}
