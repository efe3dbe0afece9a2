package database

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// Listed has the columns of a list entry that are read together with the row of its object. A model
// that embeds it can be read by [Joined].
type Listed struct {
	ListParent int64     `bun:"list_parent,scanonly"`
	ListID     int64     `bun:"list_id,scanonly"`
	ListNumber int64     `bun:"list_number,scanonly"`
	ListAt     time.Time `bun:"list_at,scanonly"`
	ListText   string    `bun:"list_text,scanonly"`
}

// Objects defines how [Joined] reads the objects of entries.
type Objects[O any] struct {
	Name   string // identifies the query of Select
	Select func(rows *[]*O, also schema.QueryAppender) *bun.SelectQuery
	Also   []int64 // at most one number, which Select receives as also
	ID     string  // the column with the IDs of the objects
	Listed func(*O) (nodeID int64, l *Listed)
}

// JoinedPage is a page with the objects of its entries, in the same order.
type JoinedPage[O any] struct {
	Page
	Nodes []O
}

// Joined reads the same part of the lists of all parents, and the objects of the entries, in one
// statement. An object that is an entry of several lists is read for each of them.
//
// It suits short parts of the lists of many parents, and lists whose statements are prepared. For a
// long part of another list, [List.Page] is faster, because the statement that reads its objects is
// prepared.
func Joined[O any](ctx context.Context, l List, parents []int64, part Slice, objects Objects[O]) (map[int64]JoinedPage[*O], error) {
	pages := make(map[int64]JoinedPage[*O], len(parents))
	if err := l.checkPositions(part); err != nil {
		return nil, err
	}
	if l.Bound != 0 && part.Offset >= l.Bound {
		return pages, nil
	}
	if l.Best != nil {
		return bestJoined(ctx, l, parents, part, objects)
	}
	for some := range slices.Chunk(parents, parentsPerStatement) {
		var rows []*O
		err := l.read(ctx, some, part, objects.Name, func(entries string, bind binder) (string, error) {
			also := bun.SafeQuery("")
			for _, number := range objects.Also {
				also = bun.SafeQuery("?", bind(number))
			}
			// Without LIMIT, SQLite flattens each part of the union into the outer query, which takes
			// time that grows with the square of the number of parts.
			q := objects.Select(&rows, also).Join("JOIN (? LIMIT 1000000000) AS list ON list.node = ?", bun.Safe(entries), bun.Safe(objects.ID)).
				ColumnExpr("list.parent AS list_parent, list.id AS list_id")
			if column := l.By.column(); column != "" {
				q = q.ColumnExpr("list.? AS list_?", bun.Safe(column), bun.Safe(column))
			}
			text, err := q.AppendQuery(l.DB.Read.QueryGen(), nil)
			return string(text), err
		}, objects.Also, &rows)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			nodeID, at := objects.Listed(row)
			e := &Entry{Position{at.ListNumber, at.ListID, at.ListText}, nodeID}
			if l.By.Time {
				e.Key = at.ListAt.UnixMicro()
			}
			p := pages[at.ListParent]
			p.Entries, p.Nodes = append(p.Entries, e), append(p.Nodes, row)
			pages[at.ListParent] = p
		}
	}
	for parent, p := range pages {
		pages[parent] = ordered(l, p, part)
	}
	return pages, nil
}

// bestJoined implements Joined for a list that has a Best.
func bestJoined[O any](ctx context.Context, l List, parents []int64, part Slice, objects Objects[O]) (map[int64]JoinedPage[*O], error) {
	pages := make(map[int64]JoinedPage[*O], len(parents))
	for _, parent := range parents {
		nodes := make(map[*Entry]*O)
		page, err := l.Best.page(ctx, parent, part, func(ctx context.Context, l List, parent int64, part Slice) (Page, error) {
			read, err := Joined(ctx, l, []int64{parent}, part, objects)
			for i, e := range read[parent].Entries {
				nodes[e] = read[parent].Nodes[i]
			}
			return read[parent].Page, err
		})
		if err != nil {
			return nil, err
		}
		joined := JoinedPage[*O]{Page: page, Nodes: make([]*O, len(page.Entries))}
		for i, e := range page.Entries {
			joined.Nodes[i] = nodes[e]
		}
		pages[parent] = joined
	}
	return pages, nil
}

// ordered sorts the entries of a page, because a join returns them in any order, and removes the
// entry that was read only to detect whether there are more.
func ordered[O any](l List, p JoinedPage[*O], part Slice) JoinedPage[*O] {
	order := make([]int, len(p.Entries))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := p.Entries[a], p.Entries[b]
		c := cmp.Or(cmp.Compare(x.Key, y.Key), strings.Compare(x.Text, y.Text), cmp.Compare(x.ID, y.ID))
		if !l.By.Ascending {
			c = -c
		}
		return c
	})
	if wanted := max(part.First, part.Last); len(order) > wanted {
		p.More = true
		if part.Last > 0 {
			order = order[len(order)-wanted:]
		} else {
			order = order[:wanted]
		}
	}
	entries, nodes := make([]*Entry, len(order)), make([]*O, len(order))
	for i, from := range order {
		entries[i], nodes[i] = p.Entries[from], p.Nodes[from]
	}
	p.Entries, p.Nodes = entries, nodes
	return p
}
