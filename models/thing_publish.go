package models

import (
	"context"
	"errors"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/license"
)

// PublishThing publishes a thing of the caller. If the state is Published, the thing appears in
// lists; if it is Unlisted, only users who have its key can see it. If it is in that state already,
// nothing changes. It returns BadInput if the thing lacks something, and Forbidden if it is taken
// down. It opens a transaction.
func (s *Store) PublishThing(ctx context.Context, caller auth.Caller, id int64, as PublicationState) (*Thing, error) {
	return s.publishThing(ctx, caller, id, as, false)
}

// PublishThingOfAnyLicense is PublishThing for a thing whose license may be unknown, because its
// owner says so.
func (s *Store) PublishThingOfAnyLicense(ctx context.Context, caller auth.Caller, id int64,
	as PublicationState) (*Thing, error) {
	return s.publishThing(ctx, caller, id, as, true)
}

func (s *Store) publishThing(ctx context.Context, caller auth.Caller, id int64, as PublicationState,
	anyLicense bool) (*Thing, error) {
	if as == Draft {
		return nil, Invalid("state", "state: a thing is published as PUBLISHED or UNLISTED; unpublishThing makes it a draft")
	}
	return s.setState(ctx, caller, id, as, anyLicense)
}

// UnpublishThing makes a thing of the caller a draft again, which is not featured. Its likes,
// comments and makes are kept, and become visible again when it is published again. It opens a
// transaction.
func (s *Store) UnpublishThing(ctx context.Context, caller auth.Caller, id int64) (*Thing, error) {
	return s.setState(ctx, caller, id, Draft, false)
}

// setState is ChangeState in a transaction of its own. It returns the thing.
func (s *Store) setState(ctx context.Context, caller auth.Caller, id int64, to PublicationState,
	anyLicense bool) (*Thing, error) {
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		return s.ChangeState(ctx, tx, caller, id, to,
			anyLicense)
	})
	if err != nil {
		return nil, err
	}
	return s.Thing(ctx, caller, AllThingFields, id)
}

// ChangeState is PublishThing, PublishThingOfAnyLicense or UnpublishThing in a transaction of the
// caller. It does not read the thing again.
func (s *Store) ChangeState(ctx context.Context, tx bun.Tx, caller auth.Caller, id int64, to PublicationState,
	anyLicense bool) error {
	t, err := s.lockOwnThing(ctx, tx, caller, id)
	if err != nil || t.State == to {
		return err
	}
	if to != Draft {
		if t.IsTakenDown() {
			return Fail(Forbidden, "thing %d was taken down by a moderator: %s", id, t.TakedownReason)
		}
		if err := checkPublishable(ctx, tx, t, anyLicense); err != nil {
			return err
		}
	}
	return s.ApplyState(ctx, tx, t, to)
}

// ApplyState changes the state of a locked thing to another one.
func (s *Store) ApplyState(ctx context.Context, tx bun.Tx, t *Thing, to PublicationState) error {
	at, was, isNew := Now(), t.State, false
	t.State, t.ModifiedAt = to, at
	if to == Published && t.PublishedAt == nil {
		t.PublishedAt, isNew = &at, true
	}
	if to != Published {
		t.FeaturedAt = nil
	}
	_, err := tx.NewUpdate().Model((*Thing)(nil)).Set("state = $2, published_at = $3, featured_at = $4, modified_at = $5").
		Where("id = $1").
		Conn(database.Bind(tx, t.ID, to, t.PublishedAt, t.FeaturedAt, at)).Exec(ctx)
	if err != nil {
		return err
	}
	switch {
	case to == Published:
		err = errors.Join(s.CountAsPublished(ctx, tx, t, 1), s.Raise(ctx, tx, ThingPublished{t}))
	case was == Published:
		err = errors.Join(s.CountAsPublished(ctx, tx, t, -1), s.Raise(ctx, tx, ThingUnpublished{t}))
	}
	if err != nil {
		return err
	}
	if isNew {
		ancestors, err := ancestorIDs(ctx, tx, t.ID)
		if err != nil {
			return err
		}
		if err := s.Raise(ctx, tx, ThingRemixed{t, ancestors}); err != nil {
			return err
		}
	}
	return s.DB.Index(ctx, tx, ThingIndex, t.ID)
}

// checkPublishable returns BadInput with everything that a thing lacks for publication. A thing
// whose license is unknown lacks one, unless anyLicense is true.
func checkPublishable(ctx context.Context, tx bun.Tx, t *Thing, anyLicense bool) error {
	var reasons []apierror.FieldError
	if strings.TrimSpace(t.Description) == "" {
		reasons = append(reasons, reason(apierror.FieldDescriptionRequired, "description: must not be blank"))
	}
	hasModel, err := tx.NewSelect().Model((*File)(nil)).
		Where("f.target_type = ? AND f.target_id = $1 AND f.state = ? AND f.kind = ?", OnThing, Finalized, Model).
		Conn(database.Bind(tx, t.ID)).Exists(ctx)
	if err != nil {
		return err
	}
	if !hasModel {
		reasons = append(reasons, reason(apierror.FieldModelRequired, "files: needs at least one model file"))
	}
	if t.SPDX() == license.Unknown && !anyLicense {
		reasons = append(reasons, reason(apierror.FieldLicenseRequired,
			"license: is unknown; ask the creator, or publish with acceptUnknownLicense"))
	}
	if len(reasons) == 0 {
		return nil
	}
	messages := make([]string, len(reasons))
	for i, r := range reasons {
		messages[i] = r.Message
	}
	e := Invalid("id", "thing %d cannot be published: %s", t.ID, strings.Join(messages, "; "))
	e.Fields = reasons
	return e
}

// reason returns a reason why a thing cannot be published.
func reason(code apierror.FieldCode, message string) apierror.FieldError {
	return apierror.FieldError{Path: []any{"id"}, Code: code, Message: message}
}

// CountAsPublished adds a published thing and its makes to the counts of published objects, or
// subtracts them if by is -1.
func (s *Store) CountAsPublished(ctx context.Context, tx bun.Tx, t *Thing, by int64) error {
	if err := countThing(ctx, tx, t, by); err != nil {
		return err
	}
	return s.countMakesOf(ctx, tx, t.ID, by)
}

// countThing is countPublished without the makes.
func countThing(ctx context.Context, tx bun.Tx, t *Thing, by int64) error {
	ancestors, err := ancestorIDs(ctx, tx, t.ID)
	if err != nil {
		return err
	}
	tags, err := tagIDs(ctx, tx, t.ID)
	if err != nil {
		return err
	}
	return AddCounts(ctx, tx, UserThings.By(by, t.OwnerID), CategoryThings.By(by, t.CategoryID),
		ThingRemixes.By(by, ancestors...), TagThings.By(by, tags...))
}
