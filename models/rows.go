package models

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/markdown"
)

// One returns the row with an ID, or NotFound if there is none.
func One[T any](s *Store, ctx context.Context, caller auth.Caller, of *database.Table[T], fields fieldset.Set[T],
	noun string, id int64) (*T, error) {
	found, err := of.ByIDs(ctx, s.DB.DB, caller.UserID, fields, []int64{id})
	if err != nil {
		return nil, err
	}
	if found[id] == nil {
		return nil, NoSuch(noun, id)
	}
	return found[id], nil
}

// AllFields returns all fields of a row of T that can be read.
func AllFields[T any]() fieldset.Set[T] { return database.TableOf[T]().All() }

// ByIDs returns the rows with the given IDs, with the given fields. Rows that do not exist are
// missing. It does not check visibility: the caller must be allowed to see the objects that refer
// to them.
func ByIDs[T any](ctx context.Context, s *Store, caller auth.Caller, fields fieldset.Set[T],
	ids []int64) (map[int64]*T, error) {
	return database.TableOf[T]().ByIDs(ctx, s.DB.DB, caller.UserID, fields, ids)
}

// Pages returns the same part of the list of each parent, with the given fields of the rows.
func Pages[T any](ctx context.Context, s *Store, caller auth.Caller, fields fieldset.Set[T], l List, parents []int64,
	part Slice) (map[int64]Page[T], error) {
	return database.TableOf[T]().Pages(ctx, l, caller.UserID, fields, parents, part)
}

// The functions below describe computed fields that several tables have. alias is the alias of the
// table.

// pending describes the field Changes; see count.go.
func pending(table, alias string) database.Computed {
	return database.Computed{Fields: []string{"Changes"}, Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
		return PendingCounts(q, table, alias)
	}}
}

// The marks of the caller are selected by subqueries with IS NOT NULL instead of EXISTS, for which
// PostgreSQL may read all marks of the caller, however many there are.

// liked describes the field Liked: whether the caller likes the object.
func liked(on TargetType, alias string) database.Computed {
	return database.Computed{Fields: []string{"Liked"}, OfCaller: true,
		Add: func(q *bun.SelectQuery, r database.Row) *bun.SelectQuery {
			return q.ColumnExpr(
				"(SELECT true FROM likes AS l WHERE l.target_type = ? AND l.target_id = ?.id AND l.user_id = ?) IS NOT NULL AS liked",
				on, bun.Safe(alias), r.Caller)
		}}
}

// watched describes the field Watched: whether the caller watches the object.
func watched(on TargetType, alias string) database.Computed {
	return database.Computed{Fields: []string{"Watched"}, OfCaller: true,
		Add: func(q *bun.SelectQuery, r database.Row) *bun.SelectQuery {
			return q.ColumnExpr(
				"(SELECT true FROM watches AS w WHERE w.target_type = ? AND w.target_id = ?.id AND w.user_id = ?) IS NOT NULL AS watched",
				on, bun.Safe(alias), r.Caller)
		}}
}

// shown describes a field with the stored HTML of a Markdown text, or the text itself if the HTML
// is stale; see [Store.HTML]. column is the column of the text.
func shown(field, column, alias string) database.Computed {
	return database.Computed{Fields: []string{field}, Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
		return q.ColumnExpr("CASE WHEN ?0.html_version < ?2 THEN ?0.?1 ELSE ?0.?1_html END AS shown_?1", bun.Safe(alias),
			bun.Safe(column), markdown.Version)
	}}
}

// stale describes the field Stale: whether the stored HTML has an older version.
func stale(alias string) database.Computed {
	return database.Computed{Fields: []string{"Stale"}, Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
		return q.ColumnExpr("?.html_version < ? AS stale", bun.Safe(alias), markdown.Version)
	}}
}

// byParent groups rows that are sorted by their parent. The groups are subslices of rows.
func byParent[T any](rows []T, parent func(T) int64) map[int64][]T {
	groups := make(map[int64][]T)
	for len(rows) > 0 {
		id, n := parent(rows[0]), 1
		for n < len(rows) && parent(rows[n]) == id {
			n++
		}
		groups[id], rows = rows[:n:n], rows[n:]
	}
	return groups
}

// IgnoreNoRows returns nil if err is sql.ErrNoRows, and otherwise err.
func IgnoreNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// NoSuchIfNoRows returns NotFound if err is sql.ErrNoRows, and otherwise err.
func NoSuchIfNoRows(err error, noun string, id int64) error {
	if errors.Is(err, sql.ErrNoRows) {
		return NoSuch(noun, id)
	}
	return err
}

// SetOf returns the set of the given IDs.
func SetOf(ids []int64) map[int64]bool {
	set := make(map[int64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// ObjectsAtOnce is the number of objects that are compared with rows in one statement.
const ObjectsAtOnce = 500

// Distinct returns the IDs without duplicates, in the order of their first occurrence.
func Distinct(ids []int64) []int64 {
	seen := make(map[int64]bool, len(ids))
	return slices.DeleteFunc(ids, func(id int64) bool {
		if seen[id] {
			return true
		}
		seen[id] = true
		return false
	})
}
