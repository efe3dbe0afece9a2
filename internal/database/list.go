package database

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
)

// Every list is read in two steps: an index-only scan returns the IDs of the page, and then the
// rows with those IDs are read. So a page deep in a long list costs little more than the first one,
// and the same list of many objects is read in one batch.

// Position is the position of an entry in a list, which is sorted by a key and, among equal keys,
// by ID. It is the content of a keyset cursor.
type Position struct {
	Key  int64 // a number, or a time in microseconds since 1970; 0 if there is none
	ID   int64
	Text string // the key of a list that is sorted by a text
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

// List is a kind of list that belongs to a parent object, such as the makes of a thing. A list
// without a parent, such as that of all things, is the same for every parent.
type List struct {
	DB *DB
	// Rows returns a query with the FROM and WHERE clauses of the list of a parent. parent is the ID
	// of the parent and caller is Caller, or each is a placeholder for the ID.
	Rows func(parent, caller any) *bun.SelectQuery
	By   Order
	// Name identifies a list whose Rows depend only on parent and caller. The statements of the list
	// are prepared, because planning them takes longer than running them. Name is empty for other
	// lists.
	Name   string
	Caller *int64 // the ID of the user who calls; nil if Rows ignores it
	Except int64  // a parent for which Rows has other conditions, so that it is not prepared; 0: none
	// Bound is the maximum number of entries that are counted and accessible; 0 if there is none.
	Bound int64
	// Total returns the lengths of the lists of parents, if they are known without counting.
	Total func(ctx context.Context, parents []int64) (map[int64]int64, error)
	// Best is set if the first entries of the list have a different order.
	Best *Best
}

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

// WithRows returns the list with other rows, without a name and without Total.
func (l List) WithRows(rows func(parent, caller any) *bun.SelectQuery) List {
	l.Rows, l.Name, l.Total = rows, "", nil
	return l
}

// Page reads the same part of the lists of all parents. It runs one statement for each 200 parents,
// or several for each parent if l has a Best. The result may have no page for a parent without
// entries. Page returns BadInput if part has a position that no entry of the list can have.
func (l List) Page(ctx context.Context, parents []int64, part Slice) (map[int64]Page, error) {
	pages := make(map[int64]Page, len(parents))
	if err := l.checkPositions(part); err != nil {
		return nil, err
	}
	if l.Bound != 0 && part.Offset >= l.Bound {
		return pages, nil
	}
	if l.Best != nil {
		for _, parent := range parents {
			page, err := l.Best.page(ctx, parent, part, readPage)
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
			Text                     string
		}
		if err := l.read(ctx, some, part, "entries", func(bind binder) (string, error) { return l.entries(some, part, bind) }, nil, &rows); err != nil {
			return nil, err
		}
		for _, row := range rows {
			e := &Entry{Position{row.Number, row.ID, row.Text}, row.Node}
			if l.By.Time {
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

// checkPositions returns BadInput if a position is one that no entry of the list can have. Only a
// modified cursor contains such a position.
func (l List) checkPositions(part Slice) error {
	for i, p := range []*Position{part.After, part.Before} {
		field := []string{"after", "before"}[i]
		if p == nil {
			continue
		}
		if !l.By.Text && p.Text != "" || len(p.Text) > maxText || !utf8.ValidString(p.Text) || strings.ContainsRune(p.Text, 0) {
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
func (l List) Statement(part Slice) (string, error) {
	if l.Best != nil {
		l = l.Best.First
	}
	return l.union([]int64{0}, func(parent any) *bun.SelectQuery { return l.part(parent, part, literal) })
}

// Count returns the number of entries of the lists of all parents, at most Bound if it is set. It
// runs one statement for each 200 parents. With Total, it returns the result of Total.
func (l List) Count(ctx context.Context, parents []int64) (map[int64]int64, error) {
	if l.Total != nil {
		return l.Total(ctx, parents)
	}
	counts := make(map[int64]int64, len(parents))
	for some := range slices.Chunk(parents, parentsPerStatement) {
		var rows []struct{ Parent, N int64 }
		if err := l.count(ctx, some, &rows); err != nil {
			return nil, err
		}
		for _, row := range rows {
			counts[row.Parent] = row.N
		}
	}
	return counts, nil
}
