package models

import (
	"context"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// Marks reports whether a user likes, has collected, and watches a thing.
type Marks struct {
	Liked     bool `bun:",scanonly"`
	Collected bool `bun:",scanonly"`
	Watched   bool `bun:",scanonly"`
}

// MarksOf returns a user's marks of things, by ID, in one statement, because a page that shows one
// mark usually shows the others too. It returns no marks if userID is 0.
func (s *Store) MarksOf(ctx context.Context, userID int64, thingIDs []int64) (map[int64]Marks, error) {
	marks := make(map[int64]Marks)
	if userID == 0 {
		return marks, nil
	}
	var rows []struct {
		ID   int64
		Mark string
	}
	db := s.db.Read
	err := s.db.ForIDs(ctx, "marks of things", thingIDs, &rows, func(among, user schema.QueryAppender) *bun.SelectQuery {
		liked := db.NewSelect().TableExpr("likes AS l").ColumnExpr("l.target_id AS id, 'liked' AS mark").
			Where("l.target_id ? AND l.user_id = ? AND l.target_type = ?", among, user, OnThing)
		watched := db.NewSelect().TableExpr("watches AS w").ColumnExpr("w.target_id AS id, 'watched' AS mark").
			Where("w.target_id ? AND w.user_id = ? AND w.target_type = ?", among, user, OnThing)
		collected := db.NewSelect().TableExpr("collection_things AS ct").ColumnExpr("DISTINCT ct.thing_id AS id, 'collected' AS mark").
			Join("JOIN collections AS co ON co.id = ct.collection_id").Where("ct.thing_id ? AND co.owner_id = ?", among, user)
		return liked.UnionAll(watched).UnionAll(collected)
	}, userID)
	for _, row := range rows {
		m := marks[row.ID]
		switch row.Mark {
		case "liked":
			m.Liked = true
		case "watched":
			m.Watched = true
		case "collected":
			m.Collected = true
		}
		marks[row.ID] = m
	}
	return marks, err
}
