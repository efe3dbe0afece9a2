package lists

import (
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// publicMakes selects the makes that everyone can see.
func publicMakes(b *database.Builder) *bun.SelectQuery {
	return b.Select().TableExpr("makes AS m").Where("m.state = 'published'").
		Where("m.thing_id IS NULL OR EXISTS (SELECT 1 FROM things AS t WHERE t.id = m.thing_id AND t.state = 'published')")
}

type allMakes struct{}

func (allMakes) Select(b *database.Builder, _ any) *bun.SelectQuery { return publicMakes(b) }

// Makes lists the makes that everyone can see, the latest first.
func (s *Store) Makes() models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "m.id"}, Rows: allMakes{}}
}

type makesOfThings struct{}

func (makesOfThings) Select(b *database.Builder, thingID any) *bun.SelectQuery {
	return b.Select().TableExpr("makes AS m").Where("m.state = 'published' AND m.thing_id = ?", thingID)
}

// MakesOfThings lists the published makes of a thing, the latest first. It does not check
// visibility: the caller must be allowed to see the thing.
func (s *Store) MakesOfThings() models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "m.id"}, Rows: makesOfThings{}}
}

type makesOfUsers struct{ own bool }

func (l makesOfUsers) Select(b *database.Builder, userID any) *bun.SelectQuery {
	if l.own {
		return b.Select().TableExpr("makes AS m").Where("m.owner_id = ?", userID)
	}
	return publicMakes(b).Where("m.owner_id = ?", userID)
}

// MakesOfUsers lists the makes of a user, the latest first. Only the user's own list contains
// drafts, and makes of things that are not published.
func (s *Store) MakesOfUsers(caller auth.Caller) models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "m.id"}, Rows: makesOfUsers{},
		Own: makesOfUsers{own: true}, Owner: caller.UserID}
}
