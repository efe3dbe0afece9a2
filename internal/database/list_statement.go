package database

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/fieldset"
)

// This file builds the statements that read lists. The text of a prepared statement is the same for
// all parents; a statement that is used once combines a query for each parent by UNION ALL.

// Listed has the columns of a list entry that are read together with the row of its node. A row
// type that embeds it can be read by [Table.Pages].
type Listed struct {
	ListParent int64     `bun:"list_parent,scanonly"`
	ListID     int64     `bun:"list_id,scanonly"`
	ListNumber int64     `bun:"list_number,scanonly"`
	ListAt     time.Time `bun:"list_at,scanonly"`
	ListText   string    `bun:"list_text,scanonly"`
}

// The arguments of the statements for lists.
const (
	parentArg = iota // the ID of the parent, or those of several
	CallerArg
	afterArg  // the key of a position and, behind it, its ID
	beforeArg = afterArg + 2
	offsetArg = beforeArg + 2
)

// args returns the arguments for a part of the lists of parents.
func (l List) args(parents []int64, userID int64, part Slice) []any {
	args := []any{any(parents), cmp.Or(l.Caller, userID), nil, nil, nil, nil, part.Offset}
	if len(parents) == 1 {
		args[parentArg] = parents[0]
	}
	for i, p := range []*Position{part.After, part.Before} {
		if p != nil {
			args[afterArg+2*i], args[afterArg+2*i+1] = l.By.value(*p), p.ID
		}
	}
	return args
}

// shape is what the text of a statement depends on of a [Slice].
type shape struct {
	first, last                 int
	hasAfter, hasBefore, offset bool
}

func shapeOf(part Slice) shape {
	return shape{part.First, part.Last, part.After != nil, part.Before != nil, part.Offset > 0}
}

// pageKey is the Key of a statement that reads a part of lists with their nodes.
type pageKey[T any] struct {
	rows     Rows
	by       Order
	part     shape
	fields   fieldset.Set[T]
	signedIn bool
	several  bool // the lists of several parents
}

// Text implements Key.
func (k pageKey[T]) Text(b *Builder) (string, error) {
	t := TableOf[T]()
	// Without an offset, the objects can be selected without reading their IDs first.
	if id := string(t.idColumn(b)); !k.part.offset && k.by.Node == "" && k.by.ID == id &&
		b.Dialect.selectsRows(k.several) {
		return k.direct(b, t)
	}
	entries, err := b.forParents(k.several, func(parent any) *bun.SelectQuery { return k.entries(b, parent) }, "id",
		"node", k.by.column())
	if err != nil {
		return "", err
	}
	return k.join(b, t, entries)
}

// once returns the text of a statement for some parents that is used once.
func (k pageKey[T]) once(b *Builder, parents []int64) (string, error) {
	entries, err := b.union(parents, func(parent any) *bun.SelectQuery { return k.entries(b, parent) })
	if err != nil {
		return "", err
	}
	return k.join(b, TableOf[T](), entries)
}

// join returns the text of a statement that joins entries with their nodes.
func (k pageKey[T]) join(b *Builder, t *Table[T], entries string) (string, error) {
	// Without LIMIT, SQLite flattens each part of the union into the outer query, which takes time
	// that grows with the square of the number of parts.
	q := b.Select().Model((*T)(nil)).Join("JOIN (SELECT * FROM (?) AS part LIMIT 1000000000) AS list ON list.node = ?",
		bun.Safe(entries), t.idColumn(b))
	q = t.add(q, b, k.fields, k.signedIn, CallerArg).ColumnExpr("list.parent AS list_parent, list.id AS list_id")
	if column := k.by.column(); column != "" {
		q = q.ColumnExpr("list.? AS list_?", bun.Safe(column), bun.Safe(column))
	}
	return b.Text(q)
}

// direct returns the text of a statement that selects the nodes of lists of their own table.
//
// PostgreSQL selects them as it goes through each list. SQLite, which has no LATERAL, looks them up
// one list at a time.
func (k pageKey[T]) direct(b *Builder, t *Table[T]) (string, error) {
	add := func(q *bun.SelectQuery, parent any) *bun.SelectQuery {
		q = q.ColumnExpr("CAST(? AS bigint) AS list_parent, ? AS list_id", parent, bun.Safe(k.by.ID))
		if column := k.by.column(); column != "" {
			q = q.ColumnExpr("? AS list_?", bun.Safe(k.by.Key), bun.Safe(column))
		}
		return t.add(q, b, k.fields, k.signedIn, CallerArg)
	}
	if b.Dialect.HasLateral() {
		return b.forParents(k.several, func(parent any) *bun.SelectQuery {
			return add(k.restrict(b, k.rows.Select(b, parent)), parent)
		})
	}
	list, parent := b.Arg(parentArg), bun.Safe("parents.value")
	ids := k.restrict(b, k.rows.Select(b, parent)).ColumnExpr("?", bun.Safe(k.by.ID))
	table := b.gen.Table(reflect.TypeFor[T]())
	// SQLite does not change the order of a CROSS JOIN.
	q := b.Select().Model((*T)(nil)).ModelTableExpr("json_each(?) AS parents CROSS JOIN ? AS ?", list, table.SQLName,
		table.SQLAlias).
		Where("? IN (?)", bun.Safe(k.by.ID), ids)
	return b.Text(add(q, parent))
}

// entries returns the query that selects the entries of a part of one list.
func (k pageKey[T]) entries(b *Builder, parent any) *bun.SelectQuery {
	id, node := bun.Safe(k.by.ID), bun.Safe(cmp.Or(k.by.Node, k.by.ID))
	q := k.rows.Select(b, parent).ColumnExpr("CAST(? AS bigint) AS parent, ? AS id, ? AS node", parent, id, node)
	if column := k.by.column(); column != "" {
		q = q.ColumnExpr("? AS ?", bun.Safe(k.by.Key), bun.Safe(column))
	}
	return k.restrict(b, q)
}

// restrict restricts a query of a list to a part of it, and one more entry to detect whether there
// are more.
func (k pageKey[T]) restrict(b *Builder, q *bun.SelectQuery) *bun.SelectQuery {
	// The last entries are read in reverse, from the end of the list.
	ascending := k.by.Ascending != (k.part.last > 0)
	direction := bun.Safe("DESC")
	if ascending {
		direction = "ASC"
	}
	if k.part.hasAfter {
		q = k.by.beyond(b, q, afterArg, k.by.Ascending)
	}
	if k.part.hasBefore {
		q = k.by.beyond(b, q, beforeArg, !k.by.Ascending)
	}
	if k.by.Key != "" {
		q = q.OrderExpr("? ?", bun.Safe(k.by.Key), direction)
	}
	limit := max(k.part.first, k.part.last) + 1
	if !k.part.offset {
		return q.OrderExpr("? ? LIMIT ?", bun.Safe(k.by.ID), direction, limit)
	}
	// Offset of Bun accepts no placeholder.
	return q.OrderExpr("? ? LIMIT ? OFFSET ?", bun.Safe(k.by.ID), direction, limit, b.Arg(offsetArg))
}

// countKey is the Key of a statement that counts the entries of lists.
type countKey struct {
	rows    Rows
	bound   int64
	several bool
}

// Text implements Key.
func (k countKey) Text(b *Builder) (string, error) {
	return b.forParents(k.several, func(parent any) *bun.SelectQuery { return k.query(b, parent) }, "n")
}

// once returns the text of a statement for some parents that is used once.
func (k countKey) once(b *Builder, parents []int64) (string, error) {
	return b.union(parents, func(parent any) *bun.SelectQuery { return k.query(b, parent) })
}

func (k countKey) query(b *Builder, parent any) *bun.SelectQuery {
	q := k.rows.Select(b, parent)
	if k.bound != 0 {
		q = b.Select().TableExpr("(?) AS bounded", q.ColumnExpr("1").Limit(k.bound))
	}
	return q.ColumnExpr("CAST(? AS bigint) AS parent, count(*) AS n", parent)
}

// forParents returns the text of a prepared statement that runs a query for the parent in
// parentArg, or for each of several. Besides the parent, the query selects the given columns, which
// only SQLite needs to know.
func (b *Builder) forParents(several bool, query func(parent any) *bun.SelectQuery, columns ...string) (string, error) {
	if !several {
		return b.Text(query(b.Arg(parentArg)))
	}
	text, err := b.Text(query(bun.Safe("parents.value")))
	if err != nil {
		return "", fmt.Errorf("list: %w", err)
	}
	return b.Dialect.eachParent(b.placeholder(parentArg), text, columns), nil
}

// union combines the queries of all parents into one statement by UNION ALL. Each query becomes a
// subquery, because it has its own ORDER BY and LIMIT.
func (b *Builder) union(parents []int64, query func(parent any) *bun.SelectQuery) (string, error) {
	texts := make([]string, len(parents))
	for i, parent := range parents {
		text, err := b.Text(query(parent))
		if err != nil {
			return "", fmt.Errorf("list: %w", err)
		}
		texts[i] = "SELECT * FROM (" + text + ") AS part"
	}
	return strings.Join(texts, " UNION ALL "), nil
}

// beyond restricts q to the rows above or below a position, whose key and ID are two arguments.
func (o Order) beyond(b *Builder, q *bun.SelectQuery, arg int, above bool) *bun.SelectQuery {
	id, than := bun.Safe(o.ID), bun.Safe("<")
	if above {
		than = ">"
	}
	switch {
	case o.Key == "":
		return q.Where("? ? ?", id, than, b.Arg(arg+1))
	case o.Time, o.Text:
		return q.Where("(?, ?) ? (?, ?)", bun.Safe(o.Key), id, than, b.Arg(arg), b.Arg(arg+1))
	}
	// The cast avoids an error if the key of a modified cursor exceeds the range of the column.
	return q.Where("(?, ?) ? (CAST(? AS bigint), ?)", bun.Safe(o.Key), id, than, b.Arg(arg), b.Arg(arg+1))
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

// value returns the key of a position as the columns of the order are compared with it.
func (o Order) value(p Position) any {
	switch {
	case o.Time:
		return time.UnixMicro(p.Key).UTC()
	case o.Text:
		return p.Text
	}
	return p.Key
}
