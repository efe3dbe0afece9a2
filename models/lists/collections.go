package lists

import (
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

type collectionsOfUsers struct{ own bool }

func (l collectionsOfUsers) Select(b *database.Builder, userID any) *bun.SelectQuery {
	q := b.Select().TableExpr("collections AS co").Where("co.owner_id = ?", userID)
	if !l.own {
		q = q.Where("co.visibility = 'public'")
	}
	return q
}

// CollectionsOf lists the collections of users, newest first. Only the caller's own list has
// private ones.
func (s *Store) CollectionsOf(caller auth.Caller) models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "co.id"}, Rows: collectionsOfUsers{},
		Own: collectionsOfUsers{own: true}, Owner: caller.UserID}
}

type thingsInCollections struct{}

func (thingsInCollections) Select(b *database.Builder, id any) *bun.SelectQuery {
	return b.Select().TableExpr("collection_things AS ct").Where("ct.collection_id = ?", id).
		Where(models.IsPublished, bun.Safe("ct.thing_id"))
}

// CollectedThings lists the published things in collections, most recently added first unless the
// owner chose another order. It does not list drafts for anyone, not even for their creators.
func (s *Store) CollectedThings() models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{Key: "ct.position", ID: "ct.id", Node: "ct.thing_id"},
		Rows: thingsInCollections{}}
}
