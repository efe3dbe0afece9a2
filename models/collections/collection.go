package collections

import (
	"cmp"
	"context"
	"errors"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// NewCollection is the input of CreateCollection.
type NewCollection struct {
	Name        string
	Description string
	Visibility  models.CollectionVisibility
}

// CreateCollection creates an empty collection of the caller. It opens a transaction.
func (s *Store) CreateCollection(ctx context.Context, caller auth.Caller, n NewCollection) (*models.Collection, error) {
	if err := checkCollection(&n.Name, &n.Description); err != nil {
		return nil, err
	}
	var html models.RenderedHTML
	if err := s.core.RenderTo(ctx, &html, models.CollectionDescription, &n.Description); err != nil {
		return nil, err
	}
	at := models.Now()
	c := &models.Collection{OwnerID: caller.UserID, Name: n.Name, Description: n.Description,
		Visibility: cmp.Or(n.Visibility, models.PublicCollection), CreatedAt: at, ModifiedAt: at}
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.core.Claim(ctx, tx, caller.UserID, models.Claim{Collections: 1}); err != nil {
			return err
		}
		if _, err := html.Insert(tx.NewInsert().Model(c)).Exec(ctx); err != nil {
			return err
		}
		if err := s.core.DB.Index(ctx, tx, models.CollectionIndex, c.ID); err != nil {
			return err
		}
		return count(ctx, c, tx, 1)
	})
	if err != nil {
		return nil, err
	}
	return s.core.Collection(ctx, caller, models.AllCollectionFields, c.ID)
}

func checkCollection(name, description *string) error {
	return errors.Join(models.CheckName(name), models.CheckOptional("description", description, models.MaxText))
}

// Change is the input of UpdateCollection. Nil fields are left unchanged.
type Change struct {
	ID          int64
	Name        *string
	Description *string
	Visibility  *models.CollectionVisibility

	FeaturedThingID *int64 // a thing in the collection; 0: none
}

// UpdateCollection changes a collection of the caller. It returns NotFound if the collection does
// not exist, Forbidden if it belongs to another user, and BadInput if the featured thing is not in
// it. It opens a transaction.
func (s *Store) UpdateCollection(ctx context.Context, caller auth.Caller, change Change) (*models.Collection, error) {
	if err := checkCollection(change.Name, change.Description); err != nil {
		return nil, err
	}
	var html models.RenderedHTML
	if err := s.core.RenderTo(ctx, &html, models.CollectionDescription, change.Description); err != nil {
		return nil, err
	}
	return s.changeCollection(ctx, caller, change.ID, func(ctx context.Context, tx bun.Tx, c *models.Collection) error {
		if len(html) > 0 {
			c.Description = *change.Description
			q := tx.NewUpdate().Model(c).Column("description").WherePK()
			if _, err := html.Update(q).Exec(ctx); err != nil {
				return err
			}
		}
		models.Assign(&c.Name, change.Name)
		if id := change.FeaturedThingID; id != nil && *id != 0 && *id != c.FeaturedThingID {
			holds, err := tx.NewSelect().Model((*models.CollectionThing)(nil)).Where("ct.collection_id = ? AND ct.thing_id = ?",
				c.ID, *id).Exists(ctx)
			if err != nil {
				return err
			}
			if !holds {
				return models.Invalid("featuredThingId", "featuredThingId: thing %d is not in the collection", *id)
			}
		}
		models.Assign(&c.FeaturedThingID, change.FeaturedThingID)
		if change.Visibility == nil || *change.Visibility == c.Visibility {
			return nil
		}
		if err := count(ctx, c, tx, -1); err != nil { // if it was public
			return err
		}
		c.Visibility = *change.Visibility
		return count(ctx, c, tx, 1)
	})
}

// changeCollection is changeCollectionIn in a transaction of its own. It returns the collection.
func (s *Store) changeCollection(ctx context.Context, caller auth.Caller, id int64, change func(context.Context, bun.Tx,
	*models.Collection) error) (*models.Collection, error) {
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		return s.changeCollectionIn(ctx, tx, caller,
			id, change)
	})
	if err != nil {
		return nil, err
	}
	return s.core.Collection(ctx, caller, models.AllCollectionFields, id)
}

// changeCollectionIn locks a collection of the caller, calls change, and stores the changed
// columns.
func (s *Store) changeCollectionIn(ctx context.Context, tx bun.Tx, caller auth.Caller, id int64,
	change func(context.Context, bun.Tx, *models.Collection) error) error {
	if err := s.core.LockUsage(ctx, tx, caller.UserID); err != nil { // for Collect
		return err
	}
	c, err := s.core.LockOwnCollection(ctx, tx, caller, id)
	if err != nil {
		return err
	}
	before := *c
	if err := change(ctx, tx, c); err != nil {
		return err
	}
	c.ModifiedAt = models.Now()
	_, err = tx.NewUpdate().Model(c).Column("name", "description", "visibility", "featured_thing_id", "modified_at").
		WherePK().Exec(ctx)
	if err != nil || c.Name == before.Name && c.Description == before.Description && c.Visibility == before.Visibility {
		return err
	}
	return s.core.DB.Index(ctx, tx, models.CollectionIndex, c.ID)
}

// DeleteCollection deletes a collection of the caller, but not its things, of which it returns the
// IDs, at most 10,000. It opens a transaction.
func (s *Store) DeleteCollection(ctx context.Context, caller auth.Caller, id int64) (thingIDs []int64, err error) {
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := s.core.LockOwnCollection(ctx, tx, caller, id)
		if err != nil {
			return err
		}
		thingIDs = nil
		err = tx.NewDelete().Model((*models.CollectionThing)(nil)).Where("collection_id = ?", id).Returning("thing_id").
			Scan(ctx, &thingIDs)
		if err := models.IgnoreNoRows(err); err != nil {
			return err
		}
		if err := s.core.Raise(ctx, tx, models.ObjectDeleted{Target: models.Target{Type: models.OnCollection, ID: id},
			Owner: c.OwnerID, By: caller}); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Model((*models.Collection)(nil)).Where("id = ?", id).Exec(ctx); err != nil {
			return err
		}
		if err := s.core.DB.Index(ctx, tx, models.CollectionIndex, id); err != nil {
			return err
		}
		return errors.Join(models.AddCounts(ctx, tx, models.ThingCollects.By(-1, thingIDs...)), count(ctx, c, tx, -1))
	})
	return thingIDs[:min(len(thingIDs), models.MaxIDs)], err
}

// count adds a public collection to its owner's collection count, or subtracts it.
func count(ctx context.Context, c *models.Collection, tx bun.Tx, by int64) error {
	if c.Visibility != models.PublicCollection {
		return nil
	}
	return models.AddCounts(ctx, tx, models.UserCollections.By(by, c.OwnerID))
}
