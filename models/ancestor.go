package models

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// checkAncestors returns BadInput if there are too many ancestors.
func checkAncestors(ids []int64) error {
	if len(ids) > maxAncestors {
		return TooMany("ancestorIds", len(ids), maxAncestors)
	}
	return nil
}

type ancestors struct{}

func (ancestors) Select(b *database.Builder, id any) *bun.SelectQuery {
	return b.Select().TableExpr("thing_ancestors AS ta").
		Join("JOIN things AS t ON t.id = ta.ancestor_id AND (t.state = 'published' OR t.owner_id = ?)",
			b.Arg(database.CallerArg)).Where("ta.thing_id = ?", id)
}

// Ancestors lists the things that a remix was made from, in the order that its creator chose. It
// has only published things and the caller's own.
func (s *Store) Ancestors(caller auth.Caller) List {
	by := database.Order{Key: "ta.position", ID: "ta.ancestor_id", Ascending: true}
	return List{DB: s.DB.DB, By: by, Rows: ancestors{}, Caller: caller.UserID}
}

type thingAncestor struct {
	bun.BaseModel `bun:"table:thing_ancestors,alias:ta"`

	ThingID    int64 `bun:",pk"`
	AncestorID int64 `bun:",pk"`
	Position   int
}

// setAncestors replaces the ancestors of a thing, which are the things before. It returns NotFound
// or Forbidden for a new ancestor that the caller cannot see. If the thing is published, it
// notifies the creators and watchers of new ancestors.
func (s *Store) setAncestors(ctx context.Context, tx bun.Tx, caller auth.Caller, t *Thing, before, ids []int64) error {
	var rows []thingAncestor
	for i, id := range ids {
		if id == t.ID {
			return Invalid("ancestorIds", "ancestorIds: a thing is not made from itself")
		}
		if !slices.Contains(ids[:i], id) {
			rows = append(rows, thingAncestor{ThingID: t.ID, AncestorID: id, Position: i})
		}
	}
	if len(rows) > 0 {
		var found []*Thing
		if err := s.DB.ForShare(tx.NewSelect().Model(&found).Where("t.id IN (?)", bun.List(ids)).Order("t.id")).
			Scan(ctx); err != nil {
			return err
		}
		for _, row := range rows {
			input := fmt.Sprintf("ancestorIds[%d]", row.Position)
			at := slices.IndexFunc(found, func(t *Thing) bool { return t.ID == row.AncestorID })
			if at < 0 {
				return About(input, NoSuch("thing", row.AncestorID))
			}
			// Existing ancestors are kept, even if the caller cannot see them any more.
			if err := found[at].Allows(caller); err != nil && !slices.Contains(before, row.AncestorID) {
				return About(input, err)
			}
		}
	}
	if _, err := tx.NewDelete().Model((*thingAncestor)(nil)).Where("thing_id = ?", t.ID).Exec(ctx); err != nil {
		return err
	}
	if len(rows) > 0 {
		if _, err := tx.NewInsert().Model(&rows).Exec(ctx); err != nil {
			return err
		}
	}
	if t.State != Published {
		return nil
	}
	after := make([]int64, len(rows))
	var added []int64
	for i, row := range rows {
		after[i] = row.AncestorID
		if !slices.Contains(before, row.AncestorID) {
			added = append(added, row.AncestorID)
		}
	}
	if err := s.Raise(ctx, tx, ThingRemixed{t, added}); err != nil {
		return err
	}
	return AddCounts(ctx, tx, ThingRemixes.By(-1, before...), ThingRemixes.By(1, after...))
}

func ancestorIDs(ctx context.Context, tx bun.Tx, thingID int64) (ids []int64, err error) {
	err = tx.NewSelect().Model((*thingAncestor)(nil)).Column("ta.ancestor_id").Where("ta.thing_id = $1").
		Order("ta.position").Conn(database.Bind(tx, thingID)).Scan(ctx, &ids)
	return ids, err
}
