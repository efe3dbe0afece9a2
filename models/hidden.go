package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// HiddenThings describes the things that a user has chosen to hide in lists. The user's own things
// are never hidden.
type HiddenThings struct{ nsfw, ai bool }

// HiddenFrom returns the things that the caller has chosen to hide.
func HiddenFrom(caller auth.Caller) HiddenThings {
	return HiddenThings{caller.HidesNSFW, caller.HidesAI}
}

// From excludes the hidden things from a query of things with the alias t. user is the ID of the
// user, or its placeholder.
func (h HiddenThings) From(q *bun.SelectQuery, user any) *bun.SelectQuery {
	if h.nsfw {
		q = q.Where("(NOT t.is_nsfw OR t.owner_id = ?)", user)
	}
	if h.ai {
		q = q.Where("(NOT t.is_ai OR t.owner_id = ?)", user)
	}
	return q
}

// inCategories returns the numbers of hidden published things by category.
func (h HiddenThings) inCategories(ctx context.Context, db bun.IDB, userID int64) (map[int64]int64, error) {
	var counts []struct{ CategoryID, N int64 }
	// The first condition lets the database use the partial index things_hideable, so it reads few
	// rows.
	q := db.NewSelect().TableExpr("things AS t").ColumnExpr("t.category_id, count(*) AS n").
		Where("t.state = 'published' AND (t.is_nsfw OR t.is_ai)").Where("t.owner_id <> ?", userID).Group("t.category_id")
	switch {
	case !h.ai:
		q = q.Where("t.is_nsfw")
	case !h.nsfw:
		q = q.Where("t.is_ai")
	}
	err := q.Scan(ctx, &counts)
	hidden := make(map[int64]int64, len(counts))
	for _, c := range counts {
		hidden[c.CategoryID] = c.N
	}
	return hidden, err
}

// IsPublished is the condition that the thing with the ID in a column is published. It is a
// subquery, because for a join PostgreSQL could choose to scan all things in the order of the list
// if it has no statistics about the parent.
const IsPublished = "(SELECT t.state FROM things AS t WHERE t.id = ?) = 'published'"

// MaxFound is the maximum number of results of a search that are counted.
const MaxFound = 10_000
