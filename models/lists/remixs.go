package lists

import (
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

type remixes struct{ hidden models.HiddenThings }

func (l remixes) Select(b *database.Builder, id any) *bun.SelectQuery {
	q := b.Select().TableExpr("thing_ancestors AS ta").Where("ta.ancestor_id = ?", id).
		Where(models.IsPublished, bun.Safe("ta.thing_id"))
	if l.hidden != (models.HiddenThings{}) {
		q = l.hidden.From(q.Join("JOIN things AS t ON t.id = ta.thing_id"), b.Arg(database.CallerArg))
	}
	return q
}

// Remixes lists the published remixes of things, newest first.
func (s *Store) Remixes(caller auth.Caller) models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "ta.thing_id"}, Rows: remixes{models.HiddenFrom(caller)},
		Caller: caller.UserID}
}
