package graph

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
)

// pageKey identifies a page of a list among the loads of a batch.
type pageKey struct {
	name                string
	first, last         int
	offset              int64
	hasAfter, hasBefore bool
	after, before       models.Position
}

func keyOf(name string, part models.Slice) pageKey {
	k := pageKey{name: name, first: part.First, last: part.Last, offset: part.Offset}
	if part.After != nil {
		k.hasAfter, k.after = true, *part.After
	}
	if part.Before != nil {
		k.hasBefore, k.before = true, *part.Before
	}
	return k
}

// joinedKey identifies a page of a list that is read together with its nodes.
type joinedKey struct{ pageKey }

// countKey identifies the length of a list among the loads of a batch.
type countKey struct{ name string }

// joinedPages reads pages of lists together with their nodes.
type joinedPages[V any] func(ctx context.Context, list models.List, parents []int64, part models.Slice) (map[int64]models.JoinedPage[V], error)

// maxJoined is the maximum size of a page of a top-level list that is read together with its nodes.
const maxJoined = 24

// ownedList is a list that belongs to an object.
type ownedList[O comparable] struct {
	name  string // identifies the list among the lists of owners of that type; part of its cursors
	list  models.List
	owner O
	id    func(O) int64 // returns the ID by which an owner selects its list, or 0 if it has none
}

// topLevel returns a list that belongs to no object.
func topLevel(name string, list models.List) ownedList[*root] {
	return ownedList[*root]{name, list, new(root), rootID}
}

// nodes describes how the nodes of a list are read, and converted to the type in the schema.
type nodes[V comparable, N any] struct {
	loader *batch.Loader[V]
	as     func(V) N
	joined joinedPages[V] // may be nil
}

// nodesOf returns nodes that are not converted. joined may be nil.
func nodesOf[V comparable](loader *batch.Loader[V], joined joinedPages[V]) nodes[V, V] {
	return nodes[V, V]{loader, func(v V) V { return v }, joined}
}

// connect returns a page of a list. One statement reads the pages of all owners in the batch, and a
// second statement reads all nodes on them. If of.joined is set, one statement reads both, except
// for pages longer than maxJoined of top-level lists without a List.Name: a prepared statement
// reads their nodes.
func connect[E model.EdgeOf[N], O, V comparable, N any](
	ctx context.Context, on ownedList[O], args pageArgs, of nodes[V, N],
) (*model.Connection[N, E], error) {
	part, err := args.slice(on.name)
	if err != nil {
		return nil, err
	}
	owners := batch.Of(batch.FromContext(ctx), on.owner)
	count := func(ctx context.Context) (int64, error) {
		counts, err := batch.Once(ctx, owners, countKey{on.name}, on.id, on.list.Count)
		return counts[on.id(on.owner)], err
	}
	selected := selectedFields(ctx)
	if !selected.nodes && !selected.edges && !selected.pageInfo {
		return &model.Connection[N, E]{Count: count}, nil
	}
	_, isRoot := any(on.owner).(*root)
	worthJoining := (selected.nodes || selected.edges) && (!isRoot || max(part.First, part.Last) <= maxJoined)
	// A top-level list with a name is always read with its nodes. So two fields share a statement if
	// one selects the nodes of a page and the other, as the deprecated listings do, only its pageInfo.
	if of.joined != nil && (worthJoining || isRoot && on.list.Name != "") {
		pages, err := batch.Once(ctx, owners, joinedKey{keyOf(on.name, part)}, on.id, func(ctx context.Context, ids []int64) (map[int64]models.JoinedPage[V], error) {
			pages, err := of.joined(ctx, on.list, ids, part)
			var all []V
			for _, page := range pages {
				all = append(all, page.Nodes...)
			}
			batch.Add(batch.FromContext(ctx), all)
			return pages, err
		})
		page := pages[on.id(on.owner)]
		return connection[V, N, E](selected, on.name, part, page.Page, page.Nodes, of.as, count), err
	}
	pages, err := batch.Once(ctx, owners, keyOf(on.name, part), on.id, func(ctx context.Context, ids []int64) (map[int64]models.Page, error) {
		pages, err := on.list.Page(ctx, ids, part)
		var all []*models.Entry
		for _, page := range pages {
			all = append(all, page.Entries...)
		}
		batch.Add(batch.FromContext(ctx), all)
		return pages, err
	})
	if err != nil {
		return nil, err
	}
	page := pages[on.id(on.owner)]
	if !selected.nodes && !selected.edges {
		return &model.Connection[N, E]{PageInfo: pageInfo(on.name, part, page), Count: count}, nil
	}
	values, err := batch.Load(ctx, page.Entries, of.loader, func(e *models.Entry) int64 { return e.NodeID })
	if err != nil {
		return nil, err
	}
	return connection[V, N, E](selected, on.name, part, page, values, of.as, count), nil
}

// connection returns a page as a connection, with its nodes and what else is selected: cursors take
// longer to encode than nodes.
func connection[V comparable, N any, E model.EdgeOf[N]](
	selected selection, name string, part models.Slice, page models.Page, values []V, as func(V) N, count func(context.Context) (int64, error),
) *model.Connection[N, E] {
	c := &model.Connection[N, E]{Nodes: make([]N, 0, len(values)), Count: count}
	if selected.pageInfo {
		c.PageInfo = pageInfo(name, part, page)
	}
	if selected.edges {
		c.Edges = make([]*E, 0, len(values))
	}
	var zero V
	for i, v := range values {
		if v == zero {
			continue // deleted since the page was read
		}
		node := as(v)
		c.Nodes = append(c.Nodes, node)
		if selected.edges {
			edge := E(struct {
				Cursor string
				Node   N
			}{cursor(name, page.Entries[i].Position), node})
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

func pageInfo(list string, part models.Slice, page models.Page) *model.PageInfo {
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

// root is the owner of top-level lists, which belong to no object.
type root struct{ _ byte }

func rootID(*root) int64 { return 1 }

func thingsOf[O comparable](ctx context.Context, name string, list models.List, args pageArgs, owner O, id func(O) int64) (*model.ThingConnection, error) {
	c, err := connect[model.ThingEdge](ctx, ownedList[O]{name, list, owner, id}, args, nodesOf(loadersOf(ctx).things, loadersOf(ctx).store.ThingsOnPages))
	return &model.ThingConnection{Connection: c}, err
}

func makesOf[O comparable](ctx context.Context, name string, list models.List, args pageArgs, owner O, id func(O) int64) (*model.MakeConnection, error) {
	c, err := connect[model.MakeEdge](ctx, ownedList[O]{name, list, owner, id}, args, nodesOf(loadersOf(ctx).makes, loadersOf(ctx).store.MakesOnPages))
	return &model.MakeConnection{Connection: c}, err
}

func commentsOf[O comparable](ctx context.Context, name string, list models.List, args pageArgs, owner O, id func(O) int64) (*model.CommentConnection, error) {
	c, err := connect[model.CommentEdge](ctx, ownedList[O]{name, list, owner, id}, args, nodesOf(loadersOf(ctx).comments, loadersOf(ctx).store.CommentsOnPages))
	return &model.CommentConnection{Connection: c}, err
}

func usersOf[O comparable](ctx context.Context, name string, list models.List, args pageArgs, owner O, id func(O) int64) (*model.UserConnection, error) {
	c, err := connect[model.UserEdge](ctx, ownedList[O]{name, list, owner, id}, args, nodesOf(loadersOf(ctx).users, loadersOf(ctx).store.UsersOnPages))
	return &model.UserConnection{Connection: c}, err
}

func collectionsOf[O comparable](ctx context.Context, name string, list models.List, args pageArgs, owner O, id func(O) int64) (*model.CollectionConnection, error) {
	c, err := connect[model.CollectionEdge](ctx, ownedList[O]{name, list, owner, id}, args, nodesOf(loadersOf(ctx).collections, loadersOf(ctx).store.CollectionsOnPages))
	return &model.CollectionConnection{Connection: c}, err
}

// searchHits returns a page of the results of a search.
func searchHits[V interface {
	comparable
	model.SearchHit
}](
	ctx context.Context, name string, found *models.SearchResult, args pageArgs, loader *batch.Loader[V], joined joinedPages[V],
) (*model.SearchConnection, error) {
	c, err := connect[model.SearchEdge](ctx, topLevel(name, found.List), args, nodes[V, model.SearchHit]{loader, func(v V) model.SearchHit { return v }, joined})
	if c != nil && selectedFields(ctx).facets {
		count := c.Count
		c.Count = func(ctx context.Context) (int64, error) {
			if n, ok, err := found.CountWithFacets(ctx); ok || err != nil {
				return n, err
			}
			return count(ctx)
		}
	}
	return &model.SearchConnection{Connection: c, Found: found}, err
}
