package moderation

import (
	"context"
	"errors"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// A taken-down thing is a draft that cannot be published, so everything that hides drafts hides it:
// lists, search, counts. Its creator and moderators see it with the reason. Its content is
// accessible only at the signed URLs that they get while it is taken down: signed URLs that were
// issued before the takedown do not work, see SignedTakenDown.

// TakeDownThing hides a thing. It requires a moderator or an administrator, who cannot be its
// creator unless they are an administrator. If the thing is already taken down, the reason is
// replaced. It opens a transaction.
func (s *Store) TakeDownThing(ctx context.Context, caller auth.Caller, id int64, reason string) (*models.Thing, error) {
	return s.decideOnThing(ctx, caller, id, reason, models.TookDownThing, func(ctx context.Context, tx bun.Tx,
		t *models.Thing) (bool, error) {
		at := models.Now()
		if !t.IsTakenDown() {
			t.HiddenState = t.State
		}
		t.TakenDownAt, t.TakedownReason, t.FeaturedAt = &at, reason, nil
		was := t.State
		t.State = models.Draft
		if was != models.Published {
			return true, nil
		}
		return true, errors.Join(s.core.CountAsPublished(ctx, tx, t, -1),
			s.core.Raise(ctx, tx, models.ThingUnpublished{Thing: t}))
	})
}

// RestoreThing ends the takedown of a thing. The thing gets its earlier state, or becomes a draft
// if its only model was removed during the takedown. The same permissions are required as for
// TakeDownThing. If the thing is not taken down, nothing changes. It opens a transaction.
func (s *Store) RestoreThing(ctx context.Context, caller auth.Caller, id int64, reason string) (*models.Thing, error) {
	return s.decideOnThing(ctx, caller, id, reason, models.RestoredThing, func(ctx context.Context, tx bun.Tx,
		t *models.Thing) (bool, error) {
		if !t.IsTakenDown() {
			return false, nil
		}
		t.State, t.HiddenState, t.TakenDownAt, t.TakedownReason = t.HiddenState, "", nil, ""
		if t.State != models.Published {
			return true, nil
		}
		return true, errors.Join(s.core.CountAsPublished(ctx, tx, t, 1),
			s.core.Raise(ctx, tx, models.ThingPublished{Thing: t}))
	})
}

// decideOnThing locks a thing, changes it, and records the decision. change reports whether the
// decision changes anything. If not, it is not recorded.
func (s *Store) decideOnThing(ctx context.Context, caller auth.Caller, id int64, reason string, action models.Action,
	change func(context.Context, bun.Tx, *models.Thing) (changed bool, err error)) (*models.Thing, error) {
	if err := checkDecision(caller, reason); err != nil {
		return nil, err
	}
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		t, err := s.core.LockThing(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := models.CheckDecides(caller, t.OwnerID); err != nil {
			return err
		}
		if changed, err := change(ctx, tx, t); err != nil || !changed {
			return err
		}
		if _, err := tx.NewUpdate().Model(t).Column("state", "hidden_state", "featured_at", "taken_down_at",
			"takedown_reason").WherePK().Exec(ctx); err != nil {
			return err
		}
		if err := s.core.DB.Index(ctx, tx, models.ThingIndex, id); err != nil {
			return err
		}
		return s.core.Record(ctx, tx, caller, models.ModerationEntry{Action: action, UserID: t.OwnerID, ThingID: id,
			Reason: reason})
	})
	if err != nil {
		return nil, err
	}
	return s.core.Thing(ctx, caller, models.AllThingFields, id)
}

// RestoreMake restores a make that is hidden because its thing was taken down and deleted. It
// requires a moderator or an administrator, who cannot be its creator unless they are an
// administrator. If the make is not hidden, nothing changes. It opens a transaction.
func (s *Store) RestoreMake(ctx context.Context, caller auth.Caller, id int64) (*models.Make, error) {
	if !caller.Moderates() {
		return nil, models.Fail(models.Forbidden, "restoring a make requires a moderator or an administrator")
	}
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		m, err := s.core.LockMake(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := models.CheckDecides(caller, m.OwnerID); err != nil || m.TakenDownAt == nil {
			return err
		}
		m.TakenDownAt = nil
		if m.PublishedAt != nil {
			m.State = models.Published
		}
		if _, err := tx.NewUpdate().Model(m).Column("state", "taken_down_at").WherePK().Exec(ctx); err != nil {
			return err
		}
		if m.State == models.Published {
			if err := m.CountAsPublished(ctx, tx, 1); err != nil {
				return err
			}
		}
		if err := s.core.Record(ctx, tx, caller, models.ModerationEntry{Action: models.RestoredMake, UserID: m.OwnerID,
			ObjectID: id}); err != nil {
			return err
		}
		return s.core.DB.Index(ctx, tx, models.MakeIndex, id)
	})
	if err != nil {
		return nil, err
	}
	return s.core.Make(ctx, caller, models.AllMakeFields, id)
}
