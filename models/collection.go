package models

import (
	"cmp"
	"context"
	"errors"
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
		return q.ColumnExpr("EXISTS (SELECT 1 FROM collection_things AS ct JOIN things AS t ON t.id = ct.thing_id AND t.state = 'published' " +
			"WHERE ct.collection_id = co.id AND ct.thing_id = co.featured_thing_id) AS has_featured")
	}},
	database.Computed{Fields: []string{"FirstThingID"}, Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
		return q.ColumnExpr("coalesce((SELECT ct.thing_id FROM collection_things AS ct JOIN things AS t ON t.id = ct.thing_id AND t.state = 'published' " +
			"WHERE ct.collection_id = co.id ORDER BY ct.position DESC, ct.id DESC LIMIT 1), 0) AS first_thing_id")
	}},
	pending("collections", "co"), liked(OnCollection, "co"), watched(OnCollection, "co"), shown("ShownDescription", "description", "co"), stale("co"),
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

type collectionThing struct {
	bun.BaseModel `bun:"table:collection_things,alias:ct"`

	ID           int64 `bun:",pk,autoincrement"`
	CollectionID int64
	ThingID      int64
	// Position is sorted in descending order. It is the time in microseconds, or what the owner chose.
	Position  int64
	CreatedAt time.Time
}

// newCollectionThing returns a row that adds a thing to a collection, before all other things.
func newCollectionThing(collectionID, thingID int64) *collectionThing {
	at := Now()
	return &collectionThing{CollectionID: collectionID, ThingID: thingID, Position: at.UnixMicro(), CreatedAt: at}
}

// NewCollection is the input of CreateCollection.
type NewCollection struct {
	Name        string
	Description string
	Visibility  CollectionVisibility
}

// CreateCollection creates an empty collection of the caller. It opens a transaction.
func (s *Store) CreateCollection(ctx context.Context, caller auth.Caller, n NewCollection) (*Collection, error) {
	if err := checkCollection(&n.Name, &n.Description); err != nil {
		return nil, err
	}
	var html RenderedHTML
	if err := s.RenderTo(ctx, &html, collectionDescription, &n.Description); err != nil {
		return nil, err
	}
	at := Now()
	c := &Collection{OwnerID: caller.UserID, Name: n.Name, Description: n.Description, Visibility: cmp.Or(n.Visibility, PublicCollection), CreatedAt: at, ModifiedAt: at}
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.claim(ctx, tx, caller.UserID, claim{collections: 1}); err != nil {
			return err
		}
		if _, err := html.Insert(tx.NewInsert().Model(c)).Exec(ctx); err != nil {
			return err
		}
		if err := s.DB.Index(ctx, tx, CollectionIndex, c.ID); err != nil {
			return err
		}
		return c.count(ctx, tx, 1)
	})
	if err != nil {
		return nil, err
	}
	return s.Collection(ctx, caller, AllCollectionFields, c.ID)
}

// count adds a public collection to its owner's collection count, or subtracts it.
func (c *Collection) count(ctx context.Context, tx bun.Tx, by int64) error {
	if c.Visibility != PublicCollection {
		return nil
	}
	return AddCounts(ctx, tx, userCollections.By(by, c.OwnerID))
}

func checkCollection(name, description *string) error {
	return errors.Join(CheckName(name), CheckOptional("description", description, MaxText))
}

// CollectionChange is the input of UpdateCollection. Nil fields are left unchanged.
type CollectionChange struct {
	ID          int64
	Name        *string
	Description *string
	Visibility  *CollectionVisibility

	FeaturedThingID *int64 // a thing in the collection; 0: none
}

// UpdateCollection changes a collection of the caller. It returns NotFound if the collection does
// not exist, Forbidden if it belongs to another user, and BadInput if the featured thing is not in
// it. It opens a transaction.
func (s *Store) UpdateCollection(ctx context.Context, caller auth.Caller, change CollectionChange) (*Collection, error) {
	if err := checkCollection(change.Name, change.Description); err != nil {
		return nil, err
	}
	var html RenderedHTML
	if err := s.RenderTo(ctx, &html, collectionDescription, change.Description); err != nil {
		return nil, err
	}
	return s.changeCollection(ctx, caller, change.ID, func(ctx context.Context, tx bun.Tx, c *Collection) error {
		if len(html) > 0 {
			c.Description = *change.Description
			q := tx.NewUpdate().Model(c).Column("description").WherePK()
			if _, err := html.Update(q).Exec(ctx); err != nil {
				return err
			}
		}
		Assign(&c.Name, change.Name)
		if id := change.FeaturedThingID; id != nil && *id != 0 && *id != c.FeaturedThingID {
			holds, err := tx.NewSelect().Model((*collectionThing)(nil)).Where("ct.collection_id = ? AND ct.thing_id = ?", c.ID, *id).Exists(ctx)
			if err != nil {
				return err
			}
			if !holds {
				return Invalid("featuredThingId", "featuredThingId: thing %d is not in the collection", *id)
			}
		}
		Assign(&c.FeaturedThingID, change.FeaturedThingID)
		if change.Visibility == nil || *change.Visibility == c.Visibility {
			return nil
		}
		if err := c.count(ctx, tx, -1); err != nil { // if it was public
			return err
		}
		c.Visibility = *change.Visibility
		return c.count(ctx, tx, 1)
	})
}

// changeCollection is changeCollectionIn in a transaction of its own. It returns the collection.
func (s *Store) changeCollection(ctx context.Context, caller auth.Caller, id int64, change func(context.Context, bun.Tx, *Collection) error) (*Collection, error) {
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error { return s.changeCollectionIn(ctx, tx, caller, id, change) })
	if err != nil {
		return nil, err
	}
	return s.Collection(ctx, caller, AllCollectionFields, id)
}

// changeCollectionIn locks a collection of the caller, calls change, and stores the changed
// columns.
func (s *Store) changeCollectionIn(ctx context.Context, tx bun.Tx, caller auth.Caller, id int64, change func(context.Context, bun.Tx, *Collection) error) error {
	if err := s.lockUsage(ctx, tx, caller.UserID); err != nil { // for Collect
		return err
	}
	c, err := s.lockOwnCollection(ctx, tx, caller, id)
	if err != nil {
		return err
	}
	before := *c
	if err := change(ctx, tx, c); err != nil {
		return err
	}
	c.ModifiedAt = Now()
	_, err = tx.NewUpdate().Model(c).Column("name", "description", "visibility", "featured_thing_id", "modified_at").WherePK().Exec(ctx)
	if err != nil || c.Name == before.Name && c.Description == before.Description && c.Visibility == before.Visibility {
		return err
	}
	return s.DB.Index(ctx, tx, CollectionIndex, c.ID)
}

func (s *Store) lockOwnCollection(ctx context.Context, tx bun.Tx, caller auth.Caller, id int64) (*Collection, error) {
	c := new(Collection)
	err := s.DB.ForUpdate(tx.NewSelect().Model(c).Where("co.id = ?", id)).Scan(ctx)
	if err == nil && c.OwnerID != caller.UserID {
		return nil, Fail(Forbidden, "collection %d belongs to someone else", id)
	}
	return c, NoSuchIfNoRows(err, "collection", id)
}

// removeFromAllCollections removes a thing that is being deleted from all collections. It returns
// the IDs of those of the caller, the one to which it was added last first.
func removeFromAllCollections(ctx context.Context, tx bun.Tx, caller auth.Caller, thingID int64) (own []int64, err error) {
	err = tx.NewSelect().Model((*collectionThing)(nil)).Column("ct.collection_id").
		Join("JOIN collections AS co ON co.id = ct.collection_id AND co.owner_id = ?", caller.UserID).
		Where("ct.thing_id = ?", thingID).Order("ct.id DESC").Scan(ctx, &own)
	if err := IgnoreNoRows(err); err != nil {
		return nil, err
	}
	var all []int64
	err = tx.NewDelete().Model((*collectionThing)(nil)).Where("thing_id = ?", thingID).Returning("collection_id").Scan(ctx, &all)
	if err != nil {
		return nil, IgnoreNoRows(err)
	}
	return own, AddCounts(ctx, tx, collectionThings.By(-1, all...))
}

// DeleteCollection deletes a collection of the caller, but not its things, of which it returns the
// IDs, at most 10,000. It opens a transaction.
func (s *Store) DeleteCollection(ctx context.Context, caller auth.Caller, id int64) (thingIDs []int64, err error) {
	err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := s.lockOwnCollection(ctx, tx, caller, id)
		if err != nil {
			return err
		}
		thingIDs = nil
		err = tx.NewDelete().Model((*collectionThing)(nil)).Where("collection_id = ?", id).Returning("thing_id").Scan(ctx, &thingIDs)
		if err := IgnoreNoRows(err); err != nil {
			return err
		}
		if err := s.Raise(ctx, tx, ObjectDeleted{Target: Target{OnCollection, id}, Owner: c.OwnerID, By: caller}); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Model((*Collection)(nil)).Where("id = ?", id).Exec(ctx); err != nil {
			return err
		}
		if err := s.DB.Index(ctx, tx, CollectionIndex, id); err != nil {
			return err
		}
		return errors.Join(AddCounts(ctx, tx, thingCollects.By(-1, thingIDs...)), c.count(ctx, tx, -1))
	})
	return thingIDs[:min(len(thingIDs), MaxIDs)], err
}

// Collection returns a collection, with the given fields. It returns NotFound if it does not exist,
// and Forbidden if the caller may not see it.
func (s *Store) Collection(ctx context.Context, caller auth.Caller, fields CollectionFields, id int64) (*Collection, error) {
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
func (s *Store) CollectionsByID(ctx context.Context, caller auth.Caller, fields CollectionFields, ids []int64) (map[int64]*Collection, error) {
	return collections.ByIDs(ctx, s.DB.DB, caller.UserID, fields, ids)
}

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
func (s *Store) CollectionsOf(caller auth.Caller) List {
	return List{DB: s.DB.DB, By: database.Order{ID: "co.id"}, Rows: collectionsOfUsers{}, Own: collectionsOfUsers{own: true}, Owner: caller.UserID}
}

type thingsInCollections struct{}

func (thingsInCollections) Select(b *database.Builder, id any) *bun.SelectQuery {
	return b.Select().TableExpr("collection_things AS ct").Where("ct.collection_id = ?", id).Where(IsPublished, bun.Safe("ct.thing_id"))
}

// CollectedThings lists the published things in collections, most recently added first unless the
// owner chose another order. It does not list drafts for anyone, not even for their creators.
func (s *Store) CollectedThings() List {
	return List{DB: s.DB.DB, By: database.Order{Key: "ct.position", ID: "ct.id", Node: "ct.thing_id"}, Rows: thingsInCollections{}}
}
