package database

import (
	"cmp"
	"context"
	"reflect"
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
	Name string // identifies what Add adds
	// Add adds the columns of the objects to a query of their table.
	Add    func(q *bun.SelectQuery, also schema.QueryAppender) *bun.SelectQuery
	Also   []int64 // at most one number, which Add receives as also
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
		err := l.read(ctx, some, part, objects.Name, func(bind binder) (string, error) {
			if l.selectsDirectly(some, part, objects.ID) {
				return selectDirectly(l, some, part, bind, objects)
			}
			return selectJoined(l, some, part, bind, objects)
		}, objects.Also, &rows)
		if err != nil {
			return nil, err
		}
		addPages(pages, l, part, rows, objects)
	}
	return pages, nil
}

// selectJoined returns the text of a statement that selects the entries and joins their objects.
func selectJoined[O any](l List, parents []int64, part Slice, bind binder, objects Objects[O]) (string, error) {
	entries, err := l.entries(parents, part, bind)
	if err != nil {
		return "", err
	}
	// Without LIMIT, SQLite flattens each part of the union into the outer query, which takes time
	// that grows with the square of the number of parts.
	q := l.DB.Read.NewSelect().Model((*O)(nil)).Join("JOIN (? LIMIT 1000000000) AS list ON list.node = ?", bun.Safe(entries), bun.Safe(objects.ID))
	q = objects.Add(q, objects.also(bind)).ColumnExpr("list.parent AS list_parent, list.id AS list_id")
	if column := l.By.column(); column != "" {
		q = q.ColumnExpr("list.? AS list_?", bun.Safe(column), bun.Safe(column))
	}
	text, err := q.AppendQuery(l.DB.Read.QueryGen(), nil)
	return string(text), err
}

// selectsDirectly reports whether a part of the lists of parents is read by selectDirectly. id is
// the column with the IDs of the objects. With an offset, all columns of the entries before it
// would be read. For one parent, SQLite is not faster that way.
func (l List) selectsDirectly(parents []int64, part Slice, id string) bool {
	return l.isPrepared(parents) && part.Offset == 0 && l.By.Node == "" && l.By.ID == id && (l.DB.Engine == Postgres || len(parents) > 1)
}

// selectDirectly returns the text of a prepared statement that selects the objects without reading
// their IDs first. The lists must be of the table of the objects.
//
// PostgreSQL selects the objects as it goes through each list. SQLite, which has no LATERAL, looks
// them up one list at a time.
func selectDirectly[O any](l List, parents []int64, part Slice, bind binder, objects Objects[O]) (string, error) {
	add := func(q *bun.SelectQuery, parent any) *bun.SelectQuery {
		q = q.ColumnExpr("CAST(? AS bigint) AS list_parent, ? AS list_id", parent, bun.Safe(l.By.ID))
		if column := l.By.column(); column != "" {
			q = q.ColumnExpr("? AS list_?", bun.Safe(l.By.Key), bun.Safe(column))
		}
		return objects.Add(q, objects.also(bind))
	}
	if l.DB.Engine == Postgres {
		return l.forParents(parents, bind, func(parent any) *bun.SelectQuery {
			return add(l.restrict(l.rows(parent, bind), part, bind), parent)
		})
	}
	list, parent := bind(parents), bun.Safe("parents.value")
	ids := l.restrict(l.rows(parent, bind), part, bind).ColumnExpr("?", bun.Safe(l.By.ID))
	table := l.DB.Read.Table(reflect.TypeFor[O]())
	// SQLite does not change the order of a CROSS JOIN.
	q := l.DB.Read.NewSelect().Model((*O)(nil)).
		ModelTableExpr("json_each(?) AS parents CROSS JOIN ? AS ?", list, table.SQLName, table.SQLAlias).
		Where("? IN (?)", bun.Safe(l.By.ID), ids)
	text, err := add(q, parent).AppendQuery(l.DB.Read.QueryGen(), nil)
	return string(text), err
}

// also returns the operand for the number that Add receives.
func (o Objects[O]) also(bind binder) schema.QueryAppender {
	for _, number := range o.Also {
		return bun.SafeQuery("?", bind(number))
	}
	return bun.SafeQuery("")
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

// addPages adds the pages that rows belong to. The rows are in any order, because they are the
// result of a join. If there are more entries than a page may have, they include one more.
func addPages[O any](pages map[int64]JoinedPage[*O], l List, part Slice, rows []*O, objects Objects[O]) {
	type entry struct {
		*Entry
		parent int64
		node   *O
	}
	entries, all := make([]Entry, len(rows)), make([]entry, len(rows))
	for i, row := range rows {
		nodeID, at := objects.Listed(row)
		entries[i] = Entry{Position{at.ListNumber, at.ListID, at.ListText}, nodeID}
		if l.By.Time {
			entries[i].Key = at.ListAt.UnixMicro()
		}
		all[i] = entry{&entries[i], at.ListParent, row}
	}
	slices.SortFunc(all, func(a, b entry) int {
		if a.parent != b.parent {
			return cmp.Compare(a.parent, b.parent)
		}
		c := cmp.Or(cmp.Compare(a.Key, b.Key), strings.Compare(a.Text, b.Text), cmp.Compare(a.ID, b.ID))
		if !l.By.Ascending {
			c = -c
		}
		return c
	})
	wanted := max(part.First, part.Last)
	for len(all) > 0 {
		parent, n := all[0].parent, 1
		for n < len(all) && all[n].parent == parent {
			n++
		}
		shown := all[:n]
		all = all[n:]
		if n > wanted && part.Last > 0 {
			shown = shown[n-wanted:]
		} else if n > wanted {
			shown = shown[:wanted]
		}
		page := JoinedPage[*O]{Page: Page{Entries: make([]*Entry, len(shown)), More: n > wanted}, Nodes: make([]*O, len(shown))}
		for i, e := range shown {
			page.Entries[i], page.Nodes[i] = e.Entry, e.node
		}
		pages[parent] = page
	}
}
