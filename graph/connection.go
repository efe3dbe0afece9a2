package graph

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/models"
)

// Each list that grows is a connection. Its cursor is the position at which an entry stands in the list's order, with the list's name, so
// that it stays good while entries come and go and is refused by another list.

const (
	defaultFirst = 30
	maxFirst     = 100
)

func cursor(list string, p models.Position) string {
	return base64.RawURLEncoding.EncodeToString([]byte(list + ":" + strconv.FormatInt(p.Key, 10) + ":" + strconv.FormatInt(p.ID, 10)))
}

func parseCursor(list, argument string, s *string) (*models.Position, error) {
	if s == nil {
		return nil, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(*s)
	if err == nil {
		if numbers, ok := strings.CutPrefix(string(text), list+":"); ok {
			key, id, _ := strings.Cut(numbers, ":")
			p := new(models.Position)
			var err, err2 error
			p.Key, err = strconv.ParseInt(key, 10, 64)
			p.ID, err2 = strconv.ParseInt(id, 10, 64)
			if err == nil && err2 == nil {
				return p, nil
			}
		}
	}
	return nil, BadInput(argument, "%s: %.60q is no cursor of this list", argument, *s)
}

// span is the arguments of a connection.
type span struct {
	first  *int32
	after  *string
	last   *int32
	before *string
	page   *int32
}

// window reads the arguments, which say what part of a list is wanted.
func (at span) window(list string) (part models.Slice, err error) {
	first, after, last, before, page := at.first, at.after, at.last, at.before, at.page
	for name, n := range map[string]*int32{"first": first, "last": last} {
		if n != nil && (*n < 1 || *n > maxFirst) {
			e := BadInput(name, "%s: %d is not between 1 and %d", name, *n, maxFirst)
			e.Limit = maxFirst
			return part, e
		}
	}
	switch {
	case last == nil && first == nil:
		part.First = defaultFirst
	case last == nil:
		part.First = int(*first)
	case first != nil:
		return part, BadInput("last", "last: not together with first")
	default:
		part.Last = int(*last)
	}
	if page != nil {
		switch {
		case after != nil || before != nil || last != nil:
			return part, BadInput("page", "page: not together with after, before or last")
		case *page < 1:
			return part, BadInput("page", "page: %d is less than 1", *page)
		}
		part.Offset = int64(*page-1) * int64(part.First)
	}
	if part.After, err = parseCursor(list, "after", after); err != nil {
		return part, err
	}
	part.Before, err = parseCursor(list, "before", before)
	return part, err
}

// BadInput says that an input cannot be taken as it is.
func BadInput(field, format string, args ...any) *models.Error {
	return &models.Error{Code: models.BadInput, Message: fmt.Sprintf(format, args...), Field: field}
}

// NotFound says that what is asked for is not there.
func NotFound(message string) *models.Error {
	return &models.Error{Code: models.NotFound, Message: message}
}

// edge is what all edges are.
type edge[N any] interface {
	~struct {
		Cursor string
		Node   N
	}
}

// Connection is a part of a list of nodes.
type Connection[N any, E edge[N]] struct {
	Edges    []*E
	Nodes    []N
	PageInfo *PageInfo
	count    func(context.Context) (int64, error)
}

// TotalCount counts the whole list.
func (c *Connection[N, E]) TotalCount(ctx context.Context) (int32, error) {
	n, err := c.count(ctx)
	return int32(min(n, 1<<31-1)), err
}

// The edges and connections of the schema. Each connection embeds what all are.
type (
	ThingEdge struct {
		Cursor string
		Node   *models.Thing
	}
	MakeEdge struct {
		Cursor string
		Node   *models.Make
	}
	CommentEdge struct {
		Cursor string
		Node   *models.Comment
	}
	UserEdge struct {
		Cursor string
		Node   *models.User
	}
	CollectionEdge struct {
		Cursor string
		Node   *models.Collection
	}
	TagEdge struct {
		Cursor string
		Node   *models.Tag
	}
	DownloadEdge struct {
		Cursor string
		Node   *models.Download
	}
	FileEdge struct {
		Cursor string
		Node   *models.File
	}
	AccessTokenEdge struct {
		Cursor string
		Node   *models.Token
	}
	ModerationEntryEdge struct {
		Cursor string
		Node   *models.ModerationEntry
	}
	SearchEdge struct {
		Cursor string
		Node   SearchHit
	}

	ThingConnection struct {
		*Connection[*models.Thing, ThingEdge]
	}
	MakeConnection struct {
		*Connection[*models.Make, MakeEdge]
	}
	CommentConnection struct {
		*Connection[*models.Comment, CommentEdge]
	}
	UserConnection struct {
		*Connection[*models.User, UserEdge]
	}
	CollectionConnection struct {
		*Connection[*models.Collection, CollectionEdge]
	}
	TagConnection struct {
		*Connection[*models.Tag, TagEdge]
	}
	DownloadConnection struct {
		*Connection[*models.Download, DownloadEdge]
	}
	FileConnection struct {
		*Connection[*models.File, FileEdge]
	}
	AccessTokenConnection struct {
		*Connection[*models.Token, AccessTokenEdge]
	}
	ModerationEntryConnection struct {
		*Connection[*models.ModerationEntry, ModerationEntryEdge]
	}
	SearchConnection struct {
		*Connection[SearchHit, SearchEdge]
		found *models.Found
	}
)

// listKey names what a cohort read: the same part of the same list.
type listKey struct {
	name          string
	first, last   int
	offset        int64
	after, before models.Position
}

func keyOf(name string, part models.Slice) listKey {
	k := listKey{name: name, first: part.First, last: part.Last, offset: part.Offset}
	if part.After != nil {
		k.after = *part.After
	}
	if part.Before != nil {
		k.before = *part.Before
	}
	return k
}

// connect gives a part of a list that hangs on an object. The same parts of the lists of all objects of its cohort are read in
// one statement, and all that stands in them in another. name tells the list from all others that objects of that type have; its cursors carry it.
func connect[O, V comparable, N any, E edge[N]](ctx context.Context, name string, list models.List, at span, obj O, id func(O) int64,
	nodes *loader[V], as func(V) N,
) (*Connection[N, E], error) {
	part, err := at.window(name)
	if err != nil {
		return nil, err
	}
	l := loadersOf(ctx)
	own := cohortOf(l, obj)
	count := func(ctx context.Context) (int64, error) {
		counts, err := readFor(ctx, own, listKey{name: "count of " + name}, id, list.Count)
		return counts[id(obj)], err
	}
	wanted := fieldsWanted(ctx)
	if !wanted["nodes"] && !wanted["edges"] && !wanted["pageInfo"] {
		return &Connection[N, E]{count: count}, nil
	}
	pages, err := readFor(ctx, own, keyOf(name, part), id, func(ctx context.Context, ids []int64) (map[int64]models.Page, error) {
		pages, err := list.Page(ctx, ids, part)
		var all []*models.Entry
		for _, page := range pages {
			all = append(all, page.Entries...)
		}
		gather(l, all)
		return pages, err
	})
	if err != nil {
		return nil, err
	}
	page := pages[id(obj)]
	if !wanted["nodes"] && !wanted["edges"] {
		return &Connection[N, E]{PageInfo: pageInfo(name, part, page), count: count}, nil
	}
	read, err := each(ctx, page.Entries, nodes, func(e *models.Entry) int64 { return e.NodeID }, same)
	if err != nil {
		return nil, err
	}
	c := &Connection[N, E]{Edges: make([]*E, 0, len(read)), Nodes: make([]N, 0, len(read)), PageInfo: pageInfo(name, part, page), count: count}
	var none V
	for i, v := range read {
		if v == none {
			continue // deleted since the page was read
		}
		e := E(struct {
			Cursor string
			Node   N
		}{cursor(name, page.Entries[i].Position), as(v)})
		c.Nodes, c.Edges = append(c.Nodes, as(v)), append(c.Edges, &e)
	}
	return c, nil
}

// fieldsWanted names the fields that are asked of the connection under way. Where it is read for something else, these are its nodes.
func fieldsWanted(ctx context.Context) map[string]bool {
	connection := graphql.GetFieldContext(ctx).Field.Definition.Type.Name()
	if !strings.HasSuffix(connection, "Connection") {
		return map[string]bool{"nodes": true}
	}
	wanted := make(map[string]bool)
	for _, field := range graphql.CollectFieldsCtx(ctx, []string{connection}) {
		wanted[field.Name] = true
	}
	return wanted
}

func pageInfo(list string, part models.Slice, page models.Page) *PageInfo {
	info := &PageInfo{HasNextPage: page.More, HasPreviousPage: part.After != nil || part.Offset != 0}
	if part.Last > 0 {
		info = &PageInfo{HasNextPage: part.Before != nil, HasPreviousPage: page.More}
	}
	if n := len(page.Entries); n > 0 {
		start, end := cursor(list, page.Entries[0].Position), cursor(list, page.Entries[n-1].Position)
		info.StartCursor, info.EndCursor = &start, &end
	}
	return info
}

// root is what lists hang on that hang on nothing.
type root struct{ _ byte }

func rootID(*root) int64 { return 1 }

func thingsOf[O comparable](ctx context.Context, name string, list models.List, at span, obj O, id func(O) int64) (*ThingConnection, error) {
	c, err := connect[O, *models.Thing, *models.Thing, ThingEdge](ctx, name, list, at, obj, id, &loadersOf(ctx).things, same)
	return &ThingConnection{c}, err
}

func makesOf[O comparable](ctx context.Context, name string, list models.List, at span, obj O, id func(O) int64) (*MakeConnection, error) {
	c, err := connect[O, *models.Make, *models.Make, MakeEdge](ctx, name, list, at, obj, id, &loadersOf(ctx).makes, same)
	return &MakeConnection{c}, err
}

func commentsOf[O comparable](ctx context.Context, name string, list models.List, at span, obj O, id func(O) int64) (*CommentConnection, error) {
	c, err := connect[O, *models.Comment, *models.Comment, CommentEdge](ctx, name, list, at, obj, id, &loadersOf(ctx).comments, same)
	return &CommentConnection{c}, err
}

func usersOf[O comparable](ctx context.Context, name string, list models.List, at span, obj O, id func(O) int64) (*UserConnection, error) {
	c, err := connect[O, *models.User, *models.User, UserEdge](ctx, name, list, at, obj, id, &loadersOf(ctx).users, same)
	return &UserConnection{c}, err
}

func collectionsOf[O comparable](ctx context.Context, name string, list models.List, at span, obj O, id func(O) int64) (*CollectionConnection, error) {
	c, err := connect[O, *models.Collection, *models.Collection, CollectionEdge](ctx, name, list, at, obj, id, &loadersOf(ctx).collections, same)
	return &CollectionConnection{c}, err
}

// hits is a part of what a search found.
func hits[V comparable](ctx context.Context, name string, found *models.Found, at span, nodes *loader[V]) (*SearchConnection, error) {
	c, err := connect[*root, V, SearchHit, SearchEdge](ctx, name, found.List, at, new(root), rootID, nodes, func(v V) SearchHit { return v })
	return &SearchConnection{c, found}, err
}
