package models

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
)

// CollectionVisibility determines who may see a collection. Only its owner, moderators and
// administrators may see a private one.
type CollectionVisibility string

// The visibilities of collections.
const (
	PublicCollection  CollectionVisibility = "public"
	PrivateCollection CollectionVisibility = "private"
)

// Collection is a named list of things that belongs to a user.
type Collection struct {
	bun.BaseModel `bun:"table:collections,alias:co"`
	database.Listed

	ID          int64 `bun:",pk,autoincrement"`
	OwnerID     int64
	Name        string
	Description string // Markdown
	Visibility  CollectionVisibility
	ThingCount  int64 `reads:"Changes"`
	LikeCount   int64 `reads:"Changes"`
	CreatedAt   time.Time
	ModifiedAt  time.Time
	Changes     Changes `bun:",scanonly"`

	// FeaturedThingID is the thing that the owner chose as the cover. If it is 0, not published, or
	// not in the collection any more, the first published thing is the cover.
	FeaturedThingID int64
	HasFeatured     bool  `bun:",scanonly"` // FeaturedThingID is in it and published
	FirstThingID    int64 `bun:",scanonly"` // the first published thing; 0: there is none

	Liked            bool   `bun:",scanonly"`               // by the caller
	Watched          bool   `bun:",scanonly"`               // by the caller
	ShownDescription string `bun:",scanonly" reads:"Stale"` // see Store.HTML
	Stale            bool   `bun:",scanonly"`
}

// CollectionFields is a set of fields of a collection.
type CollectionFields = fieldset.Set[Collection]

var collections = database.NewTable(func(c *Collection) (int64, *database.Listed) { return c.ID, &c.Listed },
	database.Computed{Fields: []string{"HasFeatured"}, Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
		return q.ColumnExpr(
			"EXISTS (SELECT 1 FROM collection_things AS ct JOIN things AS t ON t.id = ct.thing_id AND t.state = 'published' " +
				"WHERE ct.collection_id = co.id AND ct.thing_id = co.featured_thing_id) AS has_featured")
	}},
	database.Computed{Fields: []string{"FirstThingID"}, Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
		return q.ColumnExpr(
			"coalesce((SELECT ct.thing_id FROM collection_things AS ct JOIN things AS t ON t.id = ct.thing_id AND t.state = 'published' " +
				"WHERE ct.collection_id = co.id ORDER BY ct.position DESC, ct.id DESC LIMIT 1), 0) AS first_thing_id")
	}},
	pending("collections", "co"), liked(OnCollection, "co"), watched(OnCollection, "co"),
	shown("ShownDescription", "description", "co"), stale("co"),
)

// AllCollectionFields has all fields of a collection.
var AllCollectionFields = collections.All()

// CollectionAccess has the fields that Collection.Allows needs.
var CollectionAccess = fieldset.Of[Collection]("Visibility", "OwnerID")

// CoverThingID returns the thing whose image is the cover of the collection, or 0 if it has no
// published thing.
func (c *Collection) CoverThingID() int64 {
	if c.HasFeatured {
		return c.FeaturedThingID
	}
	return c.FirstThingID
}

// Allows returns nil if the caller may read the collection, else Forbidden.
func (c *Collection) Allows(caller auth.Caller) error {
	if c.Visibility == PublicCollection || c.OwnerID == caller.UserID || caller.Moderates() {
		return nil
	}
	return Fail(Forbidden, "collection %d is private", c.ID)
}

// AfterScanRow adds the changes that are not folded yet to the stored counts, and subtracts the
// texts from the read limits of the operation. It returns TooLarge if they are exceeded.
func (c *Collection) AfterScanRow(ctx context.Context) error {
	if err := readText(ctx, len(c.Description)+len(c.ShownDescription)); err != nil {
		return err
	}
	return c.Changes.addTo(map[string]*int64{"thing_count": &c.ThingCount, "like_count": &c.LikeCount})
}

type CollectionThing struct {
	bun.BaseModel `bun:"table:collection_things,alias:ct"`

	ID           int64 `bun:",pk,autoincrement"`
	CollectionID int64
	ThingID      int64
	// Position is sorted in descending order. It is the time in microseconds, or what the owner chose.
	Position  int64
	CreatedAt time.Time
}

// NewCollectionThing returns a row that adds a thing to a collection, before all other things.
func NewCollectionThing(collectionID, thingID int64) *CollectionThing {
	at := Now()
	return &CollectionThing{CollectionID: collectionID, ThingID: thingID, Position: at.UnixMicro(), CreatedAt: at}
}

func (s *Store) LockOwnCollection(ctx context.Context, tx bun.Tx, caller auth.Caller, id int64) (*Collection, error) {
	c := new(Collection)
	err := s.DB.ForUpdate(tx.NewSelect().Model(c).Where("co.id = ?", id)).Scan(ctx)
	if err == nil && c.OwnerID != caller.UserID {
		return nil, Fail(Forbidden, "collection %d belongs to someone else", id)
	}
	return c, NoSuchIfNoRows(err, "collection", id)
}

// removeFromAllCollections removes a thing that is being deleted from all collections. It returns
// the IDs of those of the caller, the one to which it was added last first.
func removeFromAllCollections(ctx context.Context, tx bun.Tx, caller auth.Caller,
	thingID int64) (own []int64, err error) {
	err = tx.NewSelect().Model((*CollectionThing)(nil)).Column("ct.collection_id").
		Join("JOIN collections AS co ON co.id = ct.collection_id AND co.owner_id = ?", caller.UserID).
		Where("ct.thing_id = ?", thingID).Order("ct.id DESC").Scan(ctx, &own)
	if err := IgnoreNoRows(err); err != nil {
		return nil, err
	}
	var all []int64
	err = tx.NewDelete().Model((*CollectionThing)(nil)).Where("thing_id = ?", thingID).Returning("collection_id").
		Scan(ctx, &all)
	if err != nil {
		return nil, IgnoreNoRows(err)
	}
	return own, AddCounts(ctx, tx, CollectionThings.By(-1, all...))
}

// Collection returns a collection, with the given fields. It returns NotFound if it does not exist,
// and Forbidden if the caller may not see it.
func (s *Store) Collection(ctx context.Context, caller auth.Caller, fields CollectionFields,
	id int64) (*Collection, error) {
	c, err := One(s, ctx, caller, collections, fields.With(CollectionAccess), "collection", id)
	if err != nil {
		return nil, err
	}
	if err := c.Allows(caller); err != nil {
		return nil, err
	}
	return c, nil
}

// CollectionsByID returns the collections with the given IDs. It does not check visibility: the
// caller must be allowed to see the objects that refer to them.
func (s *Store) CollectionsByID(ctx context.Context, caller auth.Caller, fields CollectionFields,
	ids []int64) (map[int64]*Collection, error) {
	return collections.ByIDs(ctx, s.DB.DB, caller.UserID, fields, ids)
}
