package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// MaxThings is the maximum number of things of an update.
const MaxThings = 500

// maxCollections is the maximum number of collections to which an update adds things.
const maxCollections = 10

// Change is the input of [Store.Update]. Nil and empty fields are left unchanged.
type Change struct {
	IDs                  []int64
	AddTags, RemoveTags  []string
	Category             *string // ID, name or slug
	LicenseID            *string // an SPDX identifier
	AddToCollectionIDs   []int64
	State                *models.PublicationState
	AcceptUnknownLicense bool // for State
	Delete               bool
	Reason               string // for Delete
}

// Result is the result of an update or of its undoing for one thing.
type Result struct {
	ID        int64         // of the thing
	IsDeleted bool          // it will be deleted
	Err       *models.Error // why it was not changed; nil: it was
}

// Updated is the result of [Store.Update].
type Updated struct {
	ID        int64     // for Undo; 0: nothing was changed
	ExpiresAt time.Time // the end of the time in which it can be undone
	Results   []*Result // in the order of the IDs
}

// Update changes things of the caller, each in a transaction of its own. Moderators may also delete
// things of others, with a reason. It returns BadInput for input that is not valid for any thing.
// An error about a single thing is in its result. A thing that the caller may not change does not
// exist for them.
func (s *Store) Update(ctx context.Context, caller auth.Caller, c Change) (*Updated, error) {
	if err := s.check(ctx, caller, c); err != nil {
		return nil, err
	}
	at := models.Now()
	u := &bulkUpdate{UserID: caller.UserID, CreatedAt: at, ExpiresAt: at.Add(longest), Reason: c.Reason}
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u.ID = 0
		if _, err := tx.NewInsert().Model(u).Exec(ctx); err != nil || !c.Delete {
			return err
		}
		return s.core.Enqueue(ctx, tx, models.Work{FinishUpdate: u.ID, At: u.ExpiresAt})
	})
	if err != nil {
		return nil, err
	}
	results, changed := make([]*Result, len(c.IDs)), false
	for i, id := range c.IDs {
		err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			return s.updateThing(ctx, tx, caller, u,
				c, id)
		})
		if results[i], err = resultOf(id, err); err != nil {
			return nil, fmt.Errorf("update %d: %w", u.ID, err)
		}
		results[i].IsDeleted = c.Delete && results[i].Err == nil
		changed = changed || results[i].Err == nil
	}
	if !changed {
		_, err := s.core.DB.Write.NewDelete().Model(u).WherePK().Exec(ctx)
		return &Updated{Results: results}, err
	}
	u.ExpiresAt = models.Now().Add(undoable)
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewUpdate().Model(u).Column("expires_at").WherePK().Exec(ctx); err != nil || !c.Delete {
			return err
		}
		return s.core.Enqueue(ctx, tx, models.Work{FinishUpdate: u.ID, At: u.ExpiresAt})
	})
	return &Updated{ID: u.ID, ExpiresAt: u.ExpiresAt, Results: results}, err
}

// resultOf returns the result for a thing. The error is one that is not about the thing.
func resultOf(id int64, err error) (*Result, error) {
	if err == nil {
		return &Result{ID: id}, nil
	}
	e, ok := errors.AsType[*models.Error](err)
	if !ok || e.Code == models.Internal {
		return nil, fmt.Errorf("thing %d: %w", id, err)
	}
	return &Result{ID: id, Err: e}, nil
}

// check returns BadInput if no thing can be changed as c says.
func (s *Store) check(ctx context.Context, caller auth.Caller, c Change) error {
	_, addTags := models.CleanTags(c.AddTags)
	_, removeTags := models.CleanTags(c.RemoveTags)
	return errors.Join(
		checkIDs("ids", c.IDs, MaxThings, true),
		named("addTags", addTags), named("removeTags", removeTags),
		checkIDs("addToCollectionIds", c.AddToCollectionIDs, maxCollections, false),
		s.CheckCollections(ctx, caller, "addToCollectionIds", c.AddToCollectionIDs),
		c.checkDelete(),
		s.CheckThingChange(ctx, models.ThingChange{Category: c.Category, LicenseID: c.LicenseID}),
	)
}

// checkDelete returns BadInput if the change does nothing, or deletes things and changes them, too.
func (c Change) checkDelete() error {
	edits := len(c.AddTags) > 0 || len(c.RemoveTags) > 0 || c.Category != nil || c.LicenseID != nil ||
		len(c.AddToCollectionIDs) > 0 || c.State != nil
	switch {
	case c.Delete && edits:
		return models.Invalid("delete", "delete: cannot be combined with other changes")
	case !c.Delete && !edits:
		return models.Invalid("", "the update must have at least one change")
	}
	return CheckOptionalReason(c.Reason)
}

// checkIDs returns BadInput if there are too many IDs, or one of them twice.
func checkIDs(field string, ids []int64, most int, required bool) error {
	if required && len(ids) == 0 {
		return models.RequiredList(field)
	}
	if len(ids) > most {
		e := models.Invalid(field, "%s: must have at most %d entries (got %d)", field, most, len(ids)).
			WithFieldCode(apierror.FieldTooMany)
		e.Limit = int64(most)
		return e
	}
	sorted := slices.Sorted(slices.Values(ids))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return models.Invalid(field, "%s: %d is given twice", field, sorted[i]).WithFieldCode(apierror.FieldDuplicate)
		}
	}
	return nil
}

// named returns an error about tags with the name of another input.
func named(field string, err error) error {
	e, ok := errors.AsType[*models.Error](err)
	if !ok {
		return err
	}
	copied := *e
	copied.Field, copied.Message = field+strings.TrimPrefix(e.Field, "tags"), field+strings.TrimPrefix(e.Message, "tags")
	return &copied
}

// updateThing changes one thing, and stores the values that it had before.
func (s *Store) updateThing(ctx context.Context, tx bun.Tx, caller auth.Caller, u *bulkUpdate, c Change,
	id int64) error {
	row := &updatedThing{UpdateID: u.ID, ThingID: id, Deletes: c.Delete}
	// Collections are locked before things.
	for _, collectionID := range c.AddToCollectionIDs {
		added, err := s.collections.CollectIn(ctx, tx, caller, collectionID, id)
		if code := models.CodeOf(err); code == models.Forbidden || code == models.NotFound {
			return models.NoSuch("thing", id) // the collections were checked
		}
		if err != nil {
			return err
		}
		if added {
			row.BeforeUpdate.CollectionIDs = append(row.BeforeUpdate.CollectionIDs, collectionID)
		}
	}
	t, err := s.LockThingToChange(ctx, tx, caller, id, c.Delete)
	if err != nil {
		return err
	}
	row.BeforeUpdate.ThingValues = t.Values
	if c.AddTags != nil || c.RemoveTags != nil || c.Category != nil || c.LicenseID != nil {
		change := models.ThingChange{ID: id, AddTags: c.AddTags, RemoveTags: c.RemoveTags, Category: c.Category,
			LicenseID: c.LicenseID}
		if err := s.core.ChangeThing(ctx, tx, caller, change); err != nil {
			return err
		}
	}
	if c.State != nil {
		if err := s.core.ChangeState(ctx, tx, caller, id, *c.State, c.AcceptUnknownLicense); err != nil {
			return err
		}
	}
	if c.Delete {
		if err := s.ScheduleDeletion(ctx, tx, caller, id, c.Reason, models.Now().Add(undoable)); err != nil {
			return err
		}
	}
	if err := tx.NewSelect().Table("things").Column("modified_at").Where("id = ?", id).
		Scan(ctx, &row.ModifiedAt); err != nil {
		return err
	}
	_, err = tx.NewInsert().Model(row).Exec(ctx)
	return err
}
