package database

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/fieldset"
)

// Position is the position of an entry in a list, which is sorted by a key and, among equal keys,
// by ID. It is the content of a keyset cursor.
type Position struct {
	Key  int64 // a number, or a time in microseconds since 1970; 0 if there is none
	ID   int64
	Text string // the key of a list that is sorted by a text
}

// Entry is an entry of a list. Its object is the node: the thing that was liked, the user who
// follows.
type Entry[T any] struct {
	Position
	Node *T
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
type Page[T any] struct {
	Entries []Entry[T]
	More    bool
}

// List is a kind of list that belongs to a parent object, such as the makes of a thing. A list
// without a parent, such as that of all things, is the same for every parent.
type List struct {
	DB   *DB
	Rows Rows
	By   Order
	// Own replaces Rows for the parent Owner. It is nil if that list has no other conditions.
	Own    Rows
	Owner  int64
	Caller int64 // the ID of the user who calls, for Rows
	// Bound is the maximum number of entries that are counted and accessible; 0 if there is none.
	Bound int64
	// Total returns the lengths of the lists of parents, if they are known without counting.
	Total func(ctx context.Context, parents []int64) (map[int64]int64, error)
	// Best is set if the first entries of the list have a different order.
	Best *Best
}

// Rows selects the entries of the list of a parent. A comparable type, whose fields are all that
// the query depends on, is part of the [Key] of a prepared statement. [RowsFunc] is for lists that
// depend on more, such as a filter: their statements are used once.
type Rows interface {
	// Select returns a query with the clauses FROM and WHERE. parent is the operand for the ID of the
	// parent; b.Arg(CallerArg) is that for the ID of the caller.
	Select(b *Builder, parent any) *bun.SelectQuery
}

// RowsFunc selects the entries of the list of a parent.
type RowsFunc func(b *Builder, parent any) *bun.SelectQuery

// Select implements Rows.
func (f RowsFunc) Select(b *Builder, parent any) *bun.SelectQuery { return f(b, parent) }

// Order is how a list is sorted.
type Order struct {
	Key       string // a column; empty if only the ID determines the order
	Time      bool   // Key is a time
	Text      bool   // Key is a text of at most maxText bytes
	ID        string // a column
	Node      string // the column with the object of an entry; same as ID if empty
	Ascending bool
}

// maxText is the maximum length of the text by which a list is sorted.
const maxText = 800

// parentsPerStatement is how many lists one statement reads: SQLite takes at most 500 terms in a
// compound SELECT.
const parentsPerStatement = 200

// Bounded returns the list with a Bound, unless its length is known without counting.
func (l List) Bounded(bound int64) List {
	if l.Total == nil {
		l.Bound = bound
	}
	return l
}

// WithRows returns the list with other rows, without Total.
func (l List) WithRows(rows RowsFunc) List {
	l.Rows, l.Total = rows, nil
	return l
}

// Select returns a query with the clauses FROM and WHERE of a list without a parent, with the
// values written into its text.
func (l List) Select() *bun.SelectQuery {
	return l.Rows.Select(l.DB.builder(l.args([]int64{0}, 0, Slice{})), nil)
}

// isPrepared reports whether the statements of a list are prepared.
func isPrepared(rows Rows) bool {
	_, once := rows.(RowsFunc)
	return !once
}

// parts calls read for the parents whose lists have the same rows, up to parentsPerStatement at a
// time.
func (l List) parts(parents []int64, read func(rows Rows, parents []int64) error) error {
	if l.Own != nil && slices.Contains(parents, l.Owner) {
		if err := read(l.Own, []int64{l.Owner}); err != nil {
			return err
		}
		parents = slices.DeleteFunc(slices.Clone(parents), func(id int64) bool { return id == l.Owner })
	}
	for some := range slices.Chunk(parents, parentsPerStatement) {
		if err := read(l.Rows, some); err != nil {
			return err
		}
	}
	return nil
}

// Pages reads the same part of the lists of all parents, with the given fields of the nodes. It
// runs one statement for each 200 parents, or several for each parent if l has a Best. A node that
// is in several lists is read for each of them. userID is the ID of the caller, or 0. The result
// may have no page for a parent without entries. Pages returns BadInput if part has a position that
// no entry of the list can have.
func (t *Table[T]) Pages(ctx context.Context, l List, userID int64, fields fieldset.Set[T], parents []int64,
	part Slice) (map[int64]Page[T], error) {
	pages := make(map[int64]Page[T], len(parents))
	if err := l.checkPositions(part); err != nil {
		return nil, err
	}
	if l.Bound != 0 && part.Offset >= l.Bound {
		return pages, nil
	}
	if l.Best != nil {
		for _, parent := range parents {
			page, err := bestPage(l.Best, part, func(l List, part Slice) (Page[T], error) {
				pages, err := t.Pages(ctx, l, userID, fields, []int64{parent}, part)
				return pages[parent], err
			}, func() (int64, error) {
				n, err := l.Best.First.Count(ctx, []int64{parent})
				return n[parent], err
			})
			if err != nil {
				return nil, err
			}
			pages[parent] = page
		}
		return pages, nil
	}
	fields = fields.Without(t.ofSingle)
	key := pageKey[T]{by: l.By, part: shapeOf(part), fields: fields, signedIn: t.signedIn(userID, fields)}
	err := l.parts(parents, func(rows Rows, parents []int64) error {
		key.rows, key.several = rows, len(parents) > 1
		var found []*T
		args := l.args(parents, userID, part)
		var err error
		if isPrepared(rows) {
			err = Read(ctx, l.DB, key, &found, args...)
		} else {
			err = readOnce(ctx, l.DB, func(b *Builder) (string, error) { return key.once(b, parents) }, &found, args...)
		}
		if err == nil {
			addPages(pages, l.By, part, len(found), func(i int) (Listed, *T) {
				_, at := t.ID(found[i])
				return *at, found[i]
			})
		}
		return err
	})
	return pages, err
}

// Page reads the same part of the lists of all parents, with the IDs of the nodes: for a list whose
// nodes have several types. The lists must have RowsFunc.
func (l List) Page(ctx context.Context, parents []int64, part Slice) (map[int64]Page[int64], error) {
	if err := l.checkPositions(part); err != nil {
		return nil, err
	}
	pages := make(map[int64]Page[int64], len(parents))
	if l.Bound != 0 && part.Offset >= l.Bound {
		return pages, nil
	}
	key := pageKey[int64]{rows: l.Rows, by: l.By, part: shapeOf(part)}
	err := l.parts(parents, func(_ Rows, parents []int64) error {
		var found []struct {
			Parent, ID, Node, Number int64
			At                       time.Time
			Text                     string
		}
		write := func(b *Builder) (string, error) {
			return b.union(parents, func(parent any) *bun.SelectQuery { return key.entries(b, parent) })
		}
		err := readOnce(ctx, l.DB, write, &found, l.args(parents, 0, part)...)
		addPages(pages, l.By, part, len(found), func(i int) (Listed, *int64) {
			row := &found[i]
			return Listed{row.Parent, row.ID, row.Number, row.At, row.Text}, &row.Node
		})
		return err
	})
	return pages, err
}

// addPages adds the pages that rows belong to. The rows are in any order, because they are the
// result of a join. If there are more entries than a page may have, they include one more. row
// returns the position and the node of row i of n.
func addPages[T any](pages map[int64]Page[T], by Order, part Slice, n int, row func(i int) (Listed, *T)) {
	type entry struct {
		Entry[T]
		parent int64
	}
	all := make([]entry, n)
	for i := range all {
		at, node := row(i)
		e := entry{Entry[T]{Position{at.ListNumber, at.ListID, at.ListText}, node}, at.ListParent}
		if by.Time {
			e.Key = at.ListAt.UnixMicro()
		}
		all[i] = e
	}
	slices.SortFunc(all, func(a, b entry) int {
		if a.parent != b.parent {
			return cmp.Compare(a.parent, b.parent)
		}
		c := cmp.Or(cmp.Compare(a.Key, b.Key), strings.Compare(a.Text, b.Text), cmp.Compare(a.ID, b.ID))
		if !by.Ascending {
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
		page := Page[T]{Entries: make([]Entry[T], len(shown)), More: n > wanted}
		for i, e := range shown {
			page.Entries[i] = e.Entry
		}
		pages[parent] = page
	}
}

// checkPositions returns BadInput if a position is one that no entry of the list can have. Only a
// modified cursor contains such a position.
func (l List) checkPositions(part Slice) error {
	for i, p := range []*Position{part.After, part.Before} {
		field := []string{"after", "before"}[i]
		if p == nil {
			continue
		}
		if !l.By.Text && p.Text != "" || len(p.Text) > maxText || !utf8.ValidString(p.Text) ||
			strings.ContainsRune(p.Text, 0) {
			return apierror.Invalid(field, "%s: is not a cursor of this list", field)
		}
		if !l.By.Time {
			continue
		}
		if year := time.UnixMicro(p.Key).UTC().Year(); year < 1 || year > 9999 {
			return apierror.Invalid(field, "%s: is not a cursor of this list", field)
		}
	}
	return nil
}

// Statement returns the statement that reads a part of a list without a parent, for benchmarks.
func (t *Table[T]) Statement(l List, fields fieldset.Set[T], part Slice) (string, error) {
	if l.Best != nil {
		l = l.Best.First
	}
	key := pageKey[T]{rows: l.Rows, by: l.By, part: shapeOf(part), fields: fields}
	return key.once(l.DB.builder(l.args([]int64{0}, 0, part)), []int64{0})
}

// Count returns the number of entries of the lists of all parents, at most Bound if it is set. It
// runs one statement for each 200 parents. With Total, it returns the result of Total.
func (l List) Count(ctx context.Context, parents []int64) (map[int64]int64, error) {
	if l.Total != nil {
		return l.Total(ctx, parents)
	}
	counts := make(map[int64]int64, len(parents))
	err := l.parts(parents, func(rows Rows, parents []int64) error {
		key := countKey{rows, l.Bound, len(parents) > 1}
		var found []struct{ Parent, N int64 }
		args := l.args(parents, 0, Slice{})
		var err error
		if isPrepared(rows) {
			err = Read(ctx, l.DB, key, &found, args...)
		} else {
			err = readOnce(ctx, l.DB, func(b *Builder) (string, error) { return key.once(b, parents) }, &found, args...)
		}
		for _, row := range found {
			counts[row.Parent] = row.N
		}
		return err
	})
	return counts, err
}
