package database

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// This file builds the statements that read lists. The statement for a list with a name is
// prepared, and its text is the same for all parents; that for another list combines a query for
// each parent by UNION ALL.

// read runs a statement for a part of the lists of parents and reads its rows into dest. write
// returns its text; it binds the values of the lists, and then those in also. name identifies the
// statement among those for the same list.
func (l List) read(ctx context.Context, parents []int64, part Slice, name string, write func(bind binder) (string, error), also []int64, dest any) error {
	if !l.isPrepared(parents) {
		text, err := write(literal)
		if err != nil {
			return err
		}
		return l.DB.selectText(ctx, text, dest)
	}
	name = fmt.Sprintf("list %s, %d, %d, %t, %t, %t, %t, %s", l.Name, part.First, part.Last, part.After != nil, part.Before != nil, part.Offset > 0, len(parents) > 1, name)
	args := l.args(parents)
	for _, p := range []*Position{part.After, part.Before} {
		if p != nil {
			args = append(args, l.By.values(*p)...)
		}
	}
	if part.Offset > 0 {
		args = append(args, part.Offset)
	}
	for _, number := range also {
		args = append(args, number)
	}
	return l.DB.prepared(ctx, name, func() (string, error) { return write(numbered()) }, dest, args...)
}

// entries returns the text of a query that selects the entries of a part of the lists of parents.
func (l List) entries(parents []int64, part Slice, bind binder) (string, error) {
	query := func(parent any) *bun.SelectQuery { return l.part(parent, part, bind) }
	if !l.isPrepared(parents) {
		return l.union(parents, query)
	}
	return l.forParents(parents, bind, query, "id", "node", l.By.column())
}

// isPrepared reports whether the statement for the lists of parents is prepared.
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

// forParents returns the text of a prepared statement that runs a query for each of the parents.
// Besides the parent, the query selects the given columns. The text is the same for all numbers of
// parents above one.
func (l List) forParents(parents []int64, bind binder, query func(parent any) *bun.SelectQuery, columns ...string) (string, error) {
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
	return l.DB.prepared(ctx, fmt.Sprintf("count %s, %d, %t", l.Name, l.Bound, len(parents) > 1), func() (string, error) {
		bind := numbered()
		return l.forParents(parents, bind, func(parent any) *bun.SelectQuery { return query(parent, bind) }, "n")
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

// part returns the query that selects the entries of a part of one list.
func (l List) part(parent any, part Slice, bind binder) *bun.SelectQuery {
	id, node := bun.Safe(l.By.ID), bun.Safe(l.By.Node)
	if l.By.Node == "" {
		node = id
	}
	q := l.rows(parent, bind).ColumnExpr("CAST(? AS bigint) AS parent, ? AS id, ? AS node", parent, id, node)
	if column := l.By.column(); column != "" {
		q = q.ColumnExpr("? AS ?", bun.Safe(l.By.Key), bun.Safe(column))
	}
	return l.restrict(q, part, bind)
}

// restrict restricts a query of a list to a part of it, and one more entry to detect whether there
// are more.
func (l List) restrict(q *bun.SelectQuery, part Slice, bind binder) *bun.SelectQuery {
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
		q = q.OrderExpr("? ?", bun.Safe(l.By.Key), direction)
	}
	limit := max(part.First, part.Last) + 1
	if part.Offset == 0 {
		return q.OrderExpr("? ? LIMIT ?", bun.Safe(l.By.ID), direction, limit)
	}
	// Offset of Bun accepts no placeholder.
	return q.OrderExpr("? ? LIMIT ? OFFSET ?", bun.Safe(l.By.ID), direction, limit, bind(part.Offset))
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
