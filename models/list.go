package models

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// Every list is read in two steps: the IDs of the page, by an index-only scan, and then the rows
// with those IDs. So a page deep in a long list costs little more than the first one, and lists of
// one kind on many objects are read together.

// Position is the position of an entry in a list: by the key of the list, and by ID among equal
// keys.
type Position struct {
	Key int64 // a number, or a time in microseconds since 1970; 0 if only the ID determines the order
	ID  int64
}

// Entry is an entry of a list.
type Entry struct {
	Position
	NodeID int64 // the object of the entry: the thing that was liked, the user who follows
}

// Slice selects a part of a list: the First entries after a position, the Last before one, or, for
// numbered pages, the First after an offset.
type Slice struct {
	First, Last   int // one of them is 0
	After, Before *Position
	Offset        int64
}

// Page is a part of a list. More reports whether there are more entries in the direction of
// reading.
type Page struct {
	Entries []*Entry
	More    bool
}

// List is a list that each of some parents has, such as the makes of things. A list without a
// parent is the same for every parent.
type List struct {
	db   *DB
	rows func(parent int64) *bun.SelectQuery // FROM and WHERE
	by   order
	// bound is the maximum number of entries that are counted and accessible; 0 if there is none.
	bound int64
	// total returns the length of a list without a parent, if it is known without counting.
	total func(ctx context.Context) (int64, error)
	// best is set if the first entries of the list have a different order.
	best *best
}

// order is how a list is sorted.
type order struct {
	key       string // a column; empty if only the ID determines the order
	time      bool   // key is a time
	id        string // a column
	node      string // the column with the object of an entry; empty: id
	ascending bool
}

// parentsPerStatement is how many lists one statement reads: SQLite takes at most 500 terms in a
// compound SELECT.
const parentsPerStatement = 200

// Page reads the same part of the lists of all parents, in one statement.
func (l List) Page(ctx context.Context, parents []int64, part Slice) (map[int64]Page, error) {
	pages := make(map[int64]Page, len(parents))
	if err := l.checkPositions(part); err != nil {
		return nil, err
	}
	if l.bound != 0 && part.Offset >= l.bound {
		return pages, nil
	}
	if l.best != nil {
		for _, parent := range parents {
			page, err := l.best.page(ctx, parent, part)
			if err != nil {
				return nil, err
			}
			pages[parent] = page
		}
		return pages, nil
	}
	for some := range slices.Chunk(parents, parentsPerStatement) {
		var rows []struct {
			Parent, ID, Node, Number int64
			At                       time.Time
		}
		query, err := l.union(some, func(parent int64) *bun.SelectQuery { return l.part(parent, part) })
		if err != nil {
			return nil, err
		}
		if err := l.db.read.NewRaw(query).Scan(ctx, &rows); err != nil {
			return nil, err
		}
		for _, row := range rows {
			e := &Entry{Position{row.Number, row.ID}, row.Node}
			if l.by.time {
				e.Key = row.At.UnixMicro()
			}
			p := pages[row.Parent]
			p.Entries = append(p.Entries, e)
			pages[row.Parent] = p
		}
	}
	for parent, p := range pages {
		if wanted := max(part.First, part.Last); len(p.Entries) > wanted {
			p.Entries, p.More = p.Entries[:wanted], true
		}
		if part.Last > 0 {
			slices.Reverse(p.Entries)
		}
		pages[parent] = p
	}
	return pages, nil
}

// checkPositions rejects positions that no entry of the list can have. Only a modified cursor
// contains such a position.
func (l List) checkPositions(part Slice) error {
	for field, p := range map[string]*Position{"after": part.After, "before": part.Before} {
		if p == nil || !l.by.time {
			continue
		}
		if year := time.UnixMicro(p.Key).UTC().Year(); year < 1 || year > 9999 {
			return badInput(field, "%s: is not a cursor of this list", field)
		}
	}
	return nil
}

// Statement returns the statement that reads a part of a list without a parent, for benchmarks.
func (l List) Statement(part Slice) (string, error) {
	if l.best != nil {
		l = l.best.first
	}
	return l.union([]int64{0}, func(parent int64) *bun.SelectQuery { return l.part(parent, part) })
}

// Count counts the entries of the lists of all parents, in one statement.
func (l List) Count(ctx context.Context, parents []int64) (map[int64]int64, error) {
	counts := make(map[int64]int64, len(parents))
	if l.total != nil {
		n, err := l.total(ctx)
		for _, parent := range parents {
			counts[parent] = n
		}
		return counts, err
	}
	for some := range slices.Chunk(parents, parentsPerStatement) {
		var rows []struct{ Parent, N int64 }
		query, err := l.union(some, func(parent int64) *bun.SelectQuery {
			if l.bound == 0 {
				return l.rows(parent).ColumnExpr("CAST(? AS bigint) AS parent, count(*) AS n", parent)
			}
			return l.db.read.NewSelect().TableExpr("(?) AS bounded", l.rows(parent).ColumnExpr("1").Limit(l.bound)).
				ColumnExpr("CAST(? AS bigint) AS parent, count(*) AS n", parent)
		})
		if err != nil {
			return nil, err
		}
		if err := l.db.read.NewRaw(query).Scan(ctx, &rows); err != nil {
			return nil, err
		}
		for _, row := range rows {
			counts[row.Parent] = row.N
		}
	}
	return counts, nil
}

// union combines a query for each parent into one statement. Each is a subquery, because it has its
// own order and limit.
func (l List) union(parents []int64, query func(parent int64) *bun.SelectQuery) (string, error) {
	texts := make([]string, len(parents))
	for i, parent := range parents {
		text, err := query(parent).AppendQuery(l.db.read.QueryGen(), nil)
		if err != nil {
			return "", fmt.Errorf("list: %w", err)
		}
		texts[i] = "SELECT * FROM (" + string(text) + ") AS part"
	}
	return strings.Join(texts, " UNION ALL "), nil
}

// part selects a part of one list, and one more entry to detect whether there are more.
func (l List) part(parent int64, part Slice) *bun.SelectQuery {
	id, node := bun.Safe(l.by.id), bun.Safe(l.by.node)
	if l.by.node == "" {
		node = id
	}
	q := l.rows(parent).ColumnExpr("CAST(? AS bigint) AS parent, ? AS id, ? AS node", parent, id, node)
	key := bun.Safe(l.by.key)
	switch {
	case l.by.time:
		q = q.ColumnExpr("? AS at", key)
	case l.by.key != "":
		q = q.ColumnExpr("? AS number", key)
	}
	// The direction of reading; a last part is read from the end.
	ascending := l.by.ascending != (part.Last > 0)
	direction := bun.Safe("DESC")
	if ascending {
		direction = "ASC"
	}
	if part.After != nil {
		q = l.beyond(q, *part.After, l.by.ascending)
	}
	if part.Before != nil {
		q = l.beyond(q, *part.Before, !l.by.ascending)
	}
	if l.by.key != "" {
		q = q.OrderExpr("? ?", key, direction)
	}
	return q.OrderExpr("? ?", id, direction).Limit(int64(max(part.First, part.Last)) + 1).Offset(part.Offset)
}

// beyond selects the rows above or below a position.
func (l List) beyond(q *bun.SelectQuery, p Position, above bool) *bun.SelectQuery {
	key, id, than := bun.Safe(l.by.key), bun.Safe(l.by.id), bun.Safe("<")
	if above {
		than = ">"
	}
	switch {
	case l.by.time:
		return q.Where("(?, ?) ? (?, ?)", key, id, than, time.UnixMicro(p.Key).UTC(), p.ID)
	case l.by.key != "":
		return q.Where("(?, ?) ? (?, ?)", key, id, than, p.Key, p.ID)
	}
	return q.Where("? ? ?", id, than, p.ID)
}
