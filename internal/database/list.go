package database

import (
	"context"
	"fmt"
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
	// Rows returns FROM and WHERE of the list of a parent. parent is its ID and caller is Caller, or
	// they are placeholders for them.
	Rows func(parent, caller any) *bun.SelectQuery
	By   Order
	// Name identifies a list whose Rows differ only in what they write for parent and caller. The
	// statements that read the list of one parent are prepared, because planning them takes longer
	// than running them. It is empty for other lists.
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
		if err := l.read(ctx, some, part, "entries", func(entries string, _ binder) (string, error) { return entries, nil }, nil, &rows); err != nil {
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

// read selects the entries of a part of the lists of parents, embeds that query in a larger one,
// and reads the rows of the result into dest. around returns the text of the larger query. name
// identifies it, and also are the values that around binds, in the same order.
func (l List) read(ctx context.Context, parents []int64, part Slice, name string, around func(entries string, bind binder) (string, error), also []int64, dest any) error {
	// The text contains the offset, so each offset would need its own prepared statement. If the
	// offset were an argument, PostgreSQL would have to plan the statement without its value.
	if !l.isPrepared(parents) || part.Offset != 0 {
		entries, err := l.union(parents, func(parent any) *bun.SelectQuery { return l.part(parent, part, literal) })
		if err != nil {
			return err
		}
		text, err := around(entries, literal)
		if err != nil {
			return err
		}
		return l.DB.selectText(ctx, text, dest)
	}
	name = fmt.Sprintf("list %s, %d, %d, %t, %t, %t, %s", l.Name, part.First, part.Last, part.After != nil, part.Before != nil, len(parents) > 1, name)
	args := l.args(parents)
	for _, p := range []*Position{part.After, part.Before} {
		if p != nil {
			args = append(args, l.By.values(*p)...)
		}
	}
	for _, number := range also {
		args = append(args, number)
	}
	return l.DB.prepared(ctx, name, func() (string, error) {
		bind := numbered()
		entries, err := l.ofParents(parents, bind, func(parent any) *bun.SelectQuery { return l.part(parent, part, bind) }, "id", "node", l.By.column())
		if err != nil {
			return "", err
		}
		return around(entries, bind)
	}, dest, args...)
}

// isPrepared reports whether the statements for these parents are prepared.
func (l List) isPrepared(parents []int64) bool {
	return l.Name != "" && (l.Except == 0 || !slices.Contains(parents, l.Except))
}

// args returns the arguments of a prepared statement for parents, except those for positions.
func (l List) args(parents []int64) []any {
	args := []any{parents[0]}
	if len(parents) > 1 {
		_, args[0] = l.DB.Among(1, parents)
	}
	if l.Caller != nil {
		args = append(args, *l.Caller)
	}
	return args
}

// ofParents returns the text of a prepared statement that runs a query for each of the parents.
// Besides the parent, the query selects the given columns. The text is the same for all numbers of
// parents above one.
func (l List) ofParents(parents []int64, bind binder, query func(parent any) *bun.SelectQuery, columns ...string) (string, error) {
	list := bind(parents)
	if len(parents) == 1 {
		return l.union(parents, func(any) *bun.SelectQuery { return query(list) })
	}
	text, err := query(bun.Safe("parents.value")).AppendQuery(l.DB.Read.QueryGen(), nil)
	if err != nil {
		return "", fmt.Errorf("list: %w", err)
	}
	if l.DB.Engine == Postgres {
		return fmt.Sprintf("SELECT part.* FROM unnest(CAST(%s AS bigint[])) AS parents (value) CROSS JOIN LATERAL (%s) AS part", list, text), nil
	}
	// SQLite has no LATERAL, but the argument of json_each can refer to the tables before it.
	outer := "SELECT parents.value AS parent"
	var inner []string
	for _, column := range columns {
		if column != "" {
			outer += fmt.Sprintf(", row.value ->> %d AS %s", len(inner), column)
			inner = append(inner, "part."+column)
		}
	}
	return fmt.Sprintf("%s FROM json_each(%s) AS parents, json_each((SELECT json_group_array(json_array(%s)) FROM (%s) AS part)) AS row",
		outer, list, strings.Join(inner, ", "), text), nil
}

// rows returns FROM and WHERE of the list of a parent.
func (l List) rows(parent any, bind binder) *bun.SelectQuery {
	if l.Caller != nil {
		return l.Rows(parent, bind(*l.Caller))
	}
	return l.Rows(parent, nil)
}

// A binder returns the operand to write into the text of a statement in place of a value: the value
// itself or a placeholder.
type binder func(value any) any

func literal(value any) any { return value }

// numbered returns a binder that returns the placeholders $1, $2 and so on.
func numbered() binder {
	n := 0
	return func(any) any {
		n++
		return placeholder(n)
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

// count counts the entries of the lists of parents and reads the rows of the result into dest.
func (l List) count(ctx context.Context, parents []int64, dest any) error {
	query := func(parent any, bind binder) *bun.SelectQuery {
		q := l.rows(parent, bind)
		if l.Bound != 0 {
			q = l.DB.Read.NewSelect().TableExpr("(?) AS bounded", q.ColumnExpr("1").Limit(l.Bound))
		}
		return q.ColumnExpr("CAST(? AS bigint) AS parent, count(*) AS n", parent)
	}
	if !l.isPrepared(parents) {
		text, err := l.union(parents, func(parent any) *bun.SelectQuery { return query(parent, literal) })
		if err != nil {
			return err
		}
		return l.DB.selectText(ctx, text, dest)
	}
	return l.DB.prepared(ctx, fmt.Sprintf("count %s, %t", l.Name, len(parents) > 1), func() (string, error) {
		bind := numbered()
		return l.ofParents(parents, bind, func(parent any) *bun.SelectQuery { return query(parent, bind) }, "n")
	}, dest, l.args(parents)...)
}

// union combines the queries of all parents into one statement by UNION ALL. Each query becomes a
// subquery, because it has its own ORDER BY and LIMIT.
func (l List) union(parents []int64, query func(parent any) *bun.SelectQuery) (string, error) {
	texts := make([]string, len(parents))
	for i, parent := range parents {
		text, err := query(parent).AppendQuery(l.DB.Read.QueryGen(), nil)
		if err != nil {
			return "", fmt.Errorf("list: %w", err)
		}
		texts[i] = "SELECT * FROM (" + string(text) + ") AS part"
	}
	return strings.Join(texts, " UNION ALL "), nil
}

// part returns the query that selects a part of one list, and one more entry to detect whether
// there are more.
func (l List) part(parent any, part Slice, bind binder) *bun.SelectQuery {
	id, node := bun.Safe(l.By.ID), bun.Safe(l.By.Node)
	if l.By.Node == "" {
		node = id
	}
	key := bun.Safe(l.By.Key)
	q := l.rows(parent, bind).ColumnExpr("CAST(? AS bigint) AS parent, ? AS id, ? AS node", parent, id, node)
	if column := l.By.column(); column != "" {
		q = q.ColumnExpr("? AS ?", key, bun.Safe(column))
	}
	// The last entries are read in reverse, from the end of the list.
	ascending := l.By.Ascending != (part.Last > 0)
	direction := bun.Safe("DESC")
	if ascending {
		direction = "ASC"
	}
	if part.After != nil {
		q = l.beyond(q, *part.After, l.By.Ascending, bind)
	}
	if part.Before != nil {
		q = l.beyond(q, *part.Before, !l.By.Ascending, bind)
	}
	if l.By.Key != "" {
		q = q.OrderExpr("? ?", key, direction)
	}
	return q.OrderExpr("? ?", id, direction).Limit(int64(max(part.First, part.Last)) + 1).Offset(part.Offset)
}

// beyond restricts q to the rows above or below a position.
func (l List) beyond(q *bun.SelectQuery, p Position, above bool, bind binder) *bun.SelectQuery {
	id, than := bun.Safe(l.By.ID), bun.Safe("<")
	if above {
		than = ">"
	}
	values := l.By.values(p)
	for i := range values {
		values[i] = bind(values[i])
	}
	switch {
	case l.By.Key == "":
		return q.Where("? ? ?", id, than, values[0])
	case l.By.Time, l.By.Text:
		return q.Where("(?, ?) ? (?, ?)", bun.Safe(l.By.Key), id, than, values[0], values[1])
	}
	// The cast avoids an error if the key of a modified cursor exceeds the range of the column.
	return q.Where("(?, ?) ? (CAST(? AS bigint), ?)", bun.Safe(l.By.Key), id, than, values[0], values[1])
}

// column returns the name of the column with the key of an entry, or "" if there is no key.
func (o Order) column() string {
	switch {
	case o.Time:
		return "at"
	case o.Text:
		return "text"
	case o.Key != "":
		return "number"
	}
	return ""
}

// values returns the values of a position that the columns of the order are compared with.
func (o Order) values(p Position) []any {
	switch {
	case o.Time:
		return []any{time.UnixMicro(p.Key).UTC(), p.ID}
	case o.Text:
		return []any{p.Text, p.ID}
	case o.Key != "":
		return []any{p.Key, p.ID}
	}
	return []any{p.ID}
}
