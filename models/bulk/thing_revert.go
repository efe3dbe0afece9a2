package bulk

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/models"
)

// ThingValues are the values of a thing that bulk updates change, so that they can be restored.
type ThingValues struct {
	State      models.PublicationState
	License    models.License
	LicenseID  license.ID
	CategoryID int64
	Tags       []string
	FeaturedAt *time.Time
	TakenDown  bool
}

// LockedThing is a thing that is locked until the end of a transaction, and its values.
type LockedThing struct {
	*models.Thing
	Values ThingValues
}

// LockThingToChange locks a thing that the caller may change, or delete if deletes is set. For a
// thing of another user, it returns NotFound if the caller may not delete it.
func (s *Store) LockThingToChange(ctx context.Context, tx bun.Tx, caller auth.Caller, id int64,
	deletes bool) (*LockedThing, error) {
	t, err := s.core.LockThing(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	if t.OwnerID != caller.UserID && (!deletes || !caller.Moderates()) {
		return nil, models.NoSuch("thing", id)
	}
	if err := t.CheckNotTakenDown(caller); err != nil {
		return nil, err
	}
	tags, err := models.TagNames(ctx, tx, id)
	return &LockedThing{t, ThingValues{State: t.State, License: t.License, LicenseID: t.LicenseID,
		CategoryID: t.CategoryID, Tags: tags, FeaturedAt: t.FeaturedAt, TakenDown: t.IsTakenDown()}}, err
}

// ScheduleDeletion hides a locked thing, which is to be deleted at the given time. Until then, it
// does not exist for operations other than RemoveThing and RevertThing, and its owner can read it
// as a draft. The same permissions are required as for DeleteThing.
func (s *Store) ScheduleDeletion(ctx context.Context, tx bun.Tx, caller auth.Caller, id int64, reason string,
	at time.Time) error {
	t, err := s.core.LockDeletable(ctx, tx, caller, id)
	if err != nil {
		return err
	}
	if t.OwnerID != caller.UserID {
		if err := models.CheckReason(reason); err != nil {
			return err
		}
	}
	if t.State != models.Draft {
		if err := s.core.ApplyState(ctx, tx, t, models.Draft); err != nil {
			return err
		}
	}
	_, err = tx.NewUpdate().Table("things").Set("deletes_at = ?, modified_at = ?", at, models.Now()).Where("id = ?", id).
		Exec(ctx)
	return err
}

// RevertThing sets the values of a thing to earlier ones, and cancels its deletion. It returns
// Conflict if the thing was modified after the given time, and NotFound if it does not exist any
// more.
func (s *Store) RevertThing(ctx context.Context, tx bun.Tx, id int64, modified time.Time, to ThingValues) error {
	t, err := s.core.LockThingOrDeleted(ctx, tx, id)
	if err != nil {
		return err
	}
	if !t.ModifiedAt.Equal(modified) || t.IsTakenDown() != to.TakenDown {
		return models.Fail(models.Conflict, "thing %d was changed since the update", id)
	}
	if to.CategoryID != t.CategoryID {
		from := t.CategoryID
		t.CategoryID = to.CategoryID
		if t.State == models.Published {
			if err := models.AddCounts(ctx, tx, models.CategoryThings.By(-1, from),
				models.CategoryThings.By(1, t.CategoryID)); err != nil {
				return err
			}
		}
	}
	if err := models.SetTags(ctx, tx, t, to.Tags); err != nil {
		return err
	}
	if t.State != to.State {
		if err := s.core.ApplyState(ctx, tx, t, to.State); err != nil {
			return err
		}
		t.FeaturedAt = to.FeaturedAt
	}
	t.License, t.LicenseID, t.DeletesAt, t.ModifiedAt = to.License, to.LicenseID, nil, models.Now()
	if _, err := tx.NewUpdate().Model(t).Column("license", "license_id", "category_id", "featured_at", "deletes_at",
		"modified_at").WherePK().Exec(ctx); err != nil {
		return err
	}
	return s.core.DB.Index(ctx, tx, models.ThingIndex, id)
}

// CheckThingChange returns BadInput for values that no thing can have.
func (s *Store) CheckThingChange(ctx context.Context, c models.ThingChange) error {
	if _, err := s.core.CheckChange(ctx, c); err != nil || c.Category == nil {
		return err
	}
	_, err := models.FindCategory(ctx, s.core.DB.Read, *c.Category)
	return err
}

// CheckOptionalReason returns BadInput if an optional reason is not a valid text.
func CheckOptionalReason(reason string) error {
	return models.CheckText("reason", reason, models.MaxReason)
}

// CheckCollections returns NotFound, about the given input, if one of the collections does not
// belong to the caller.
func (s *Store) CheckCollections(ctx context.Context, caller auth.Caller, field string, ids []int64) error {
	found, err := s.core.CollectionsByID(ctx, caller, models.CollectionAccess, ids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if c := found[id]; c == nil || c.OwnerID != caller.UserID {
			return models.About(fmt.Sprintf("%s[%d]", field, i), models.NoSuch("collection", id))
		}
	}
	return nil
}
