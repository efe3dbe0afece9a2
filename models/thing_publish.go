package models

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// PublishThing publishes a thing of the caller. If the state is Published, the thing appears in
// lists; if it is Unlisted, only users who have its ID can see it. If it is in that state already,
// nothing changes. It returns BadInput if the thing lacks something, and Forbidden if it is taken
// down. It opens a transaction.
func (s *Store) PublishThing(ctx context.Context, caller auth.Caller, id int64, as PublicationState) (*Thing, error) {
	if as == Draft {
		return nil, badInput("state", "state: a thing is published as PUBLISHED or UNLISTED; unpublishThing makes it a draft")
	}
	return s.setState(ctx, caller, id, as, func(ctx context.Context, tx bun.Tx, t *Thing) error {
		if t.IsTakenDown() {
			return fail(Forbidden, "thing %d was taken down by a moderator: %s", id, t.TakedownReason)
		}
		return checkPublishable(ctx, tx, t)
	})
}

// UnpublishThing makes a thing of the caller a draft again, which is not featured. Its likes,
// comments and makes are kept, and become visible again when it is published again. It opens a
// transaction.
func (s *Store) UnpublishThing(ctx context.Context, caller auth.Caller, id int64) (*Thing, error) {
	return s.setState(ctx, caller, id, Draft, func(context.Context, bun.Tx, *Thing) error { return nil })
}

// setState changes the state of a thing of the caller, unless check returns an error.
func (s *Store) setState(ctx context.Context, caller auth.Caller, id int64, to PublicationState, check func(context.Context, bun.Tx, *Thing) error) (*Thing, error) {
	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		t, err := s.lockOwnThing(ctx, tx, caller, id)
		if err != nil || t.State == to {
			return err
		}
		if err := check(ctx, tx, t); err != nil {
			return err
		}
		return s.changeState(ctx, tx, t, to)
	})
	if err != nil {
		return nil, err
	}
	return s.Thing(ctx, caller, id)
}

// changeState changes the state of a locked thing to another one.
func (s *Store) changeState(ctx context.Context, tx bun.Tx, t *Thing, to PublicationState) error {
	at, was, isNew := now(), t.State, false
	t.State, t.ModifiedAt = to, at
	if to == Published && t.PublishedAt == nil {
		t.PublishedAt, isNew = &at, true
	}
	if to != Published {
		t.FeaturedAt = nil
	}
	_, err := tx.NewUpdate().Model((*Thing)(nil)).Set("state = $2, published_at = $3, featured_at = $4, modified_at = $5").Where("id = $1").
		Conn(database.Bind(tx, t.ID, to, t.PublishedAt, t.FeaturedAt, at)).Exec(ctx)
	if err != nil {
		return err
	}
	switch {
	case to == Published:
		err = errors.Join(s.countPublished(ctx, tx, t, 1), s.emitThing(ctx, tx, ThingPublishedEvent, t))
	case was == Published:
		err = errors.Join(s.countPublished(ctx, tx, t, -1), s.emitThing(ctx, tx, ThingUnpublishedEvent, t))
	}
	if err != nil {
		return err
	}
	if isNew {
		ancestors, err := ancestorIDs(ctx, tx, t.ID)
		if err != nil {
			return err
		}
		if err := notifyRemix(ctx, tx, t, ancestors); err != nil {
			return err
		}
	}
	return s.db.index(ctx, tx, thingIndex, t.ID)
}

// checkPublishable returns BadInput with everything that a thing lacks for publication.
func checkPublishable(ctx context.Context, tx bun.Tx, t *Thing) error {
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
	if len(reasons) == 0 {
		return nil
	}
	messages := make([]string, len(reasons))
	for i, r := range reasons {
		messages[i] = r.Message
	}
	e := badInput("id", "thing %d cannot be published: %s", t.ID, strings.Join(messages, "; "))
	e.Fields = reasons
	return e
}

// reason returns a reason why a thing cannot be published.
func reason(code apierror.FieldCode, message string) apierror.FieldError {
	return apierror.FieldError{Path: []any{"id"}, Code: code, Message: message}
}

// notifyRemix notifies the creators and watchers of the ancestors of a published thing.
func notifyRemix(ctx context.Context, tx bun.Tx, t *Thing, ancestorIDs []int64) error {
	about := Target{OnThing, t.ID}
	for _, id := range ancestorIDs {
		var owner int64
		err := tx.NewSelect().Model((*Thing)(nil)).Column("t.owner_id").Where("t.id = ?", id).Scan(ctx, &owner)
		if errors.Is(err, sql.ErrNoRows) {
			continue // deleted since the ancestors were read
		}
		if err != nil {
			return err
		}
		err = errors.Join(notify(ctx, tx, NotifyRemix, t.OwnerID, about, owner),
			notifyWatchers(ctx, tx, NotifyRemix, t.OwnerID, about, Target{OnThing, id}, id, owner))
		if err != nil {
			return err
		}
	}
	return nil
}

// countPublished adds a published thing and its makes to the counts of published objects, or
// subtracts them if by is -1.
func (s *Store) countPublished(ctx context.Context, tx bun.Tx, t *Thing, by int64) error {
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
	return count(ctx, tx, userThings.by(by, t.OwnerID), categoryThings.by(by, t.CategoryID), thingRemixes.by(by, ancestors...), tagThings.by(by, tags...))
}

// FeatureThing marks a published thing as featured, or removes the mark. It requires a moderator or
// an administrator, who cannot be its creator unless they are an administrator. It returns BadInput
// for a thing that is not published. It opens a transaction.
func (s *Store) FeatureThing(ctx context.Context, caller auth.Caller, id int64, featured bool) (*Thing, error) {
	if err := requireModerator(caller); err != nil {
		return nil, err
	}
	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		t, err := s.lockThing(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := checkDecides(caller, t.OwnerID); err != nil || featured == t.IsFeatured() {
			return err
		}
		if featured && t.State != Published {
			return badInput("id", "thing %d is not published: only published things are featured", id)
		}
		t.FeaturedAt = nil
		if featured {
			at := now()
			t.FeaturedAt = &at
		}
		if _, err = tx.NewUpdate().Model(t).Column("featured_at").WherePK().Exec(ctx); err != nil {
			return err
		}
		action := UnfeaturedThing
		if featured {
			action = FeaturedThing
		}
		return s.record(ctx, tx, caller, ModerationEntry{Action: action, UserID: t.OwnerID, ThingID: id})
	})
	if err != nil {
		return nil, err
	}
	return s.Thing(ctx, caller, id)
}

// lockBelow locks the makes and comments of a locked thing, so that no files are finalized for them
// at the same time. It locks makes before comments, as other code does, and both in the order of
// their IDs.
func (s *Store) lockBelow(ctx context.Context, tx bun.Tx, thingID int64) error {
	var makes, comments []int64
	err := s.db.ForUpdate(tx.NewSelect().Model((*Make)(nil)).Column("m.id").Where("m.thing_id = ?", thingID).Order("m.id")).Scan(ctx, &makes)
	if err != nil {
		return err
	}
	return s.db.ForUpdate(tx.NewSelect().Model((*Comment)(nil)).Column("cm.id").Where("cm.thing_id = ?", thingID).Order("cm.id")).Scan(ctx, &comments)
}

// RemovedThing is a thing as it was before its deletion.
type RemovedThing struct {
	*Thing
	AncestorIDs   []int64
	CollectionIDs []int64 // of the caller, see removeFromAllCollections
}

// DeleteThing deletes a thing with its files, likes and comments, and removes it from collections
// and download histories. Its makes, and the things that were made from it, belong to other users:
// they are kept, and only their references to the thing are removed. The garbage collector removes
// the bytes of the files, unless other files share them. The caller must be the creator, or a
// moderator or an administrator with a reason. It returns the thing as it was. It opens a
// transaction.
func (s *Store) DeleteThing(ctx context.Context, caller auth.Caller, id int64, reason string) (deleted *RemovedThing, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		t, err := s.lockThing(ctx, tx, id)
		if err != nil {
			return err
		}
		ancestors, err := ancestorIDs(ctx, tx, id)
		if err != nil {
			return err
		}
		deleted = &RemovedThing{Thing: t, AncestorIDs: ancestors}
		if t.OwnerID != caller.UserID && !caller.Moderates() {
			return fail(Forbidden, "thing %d belongs to someone else", id)
		}
		if err := t.checkNotTakenDown(caller); err != nil {
			return err
		}
		if err := s.lockBelow(ctx, tx, id); err != nil {
			return err
		}
		if t.IsTakenDown() {
			if err := s.takeDownMakes(ctx, tx, id); err != nil {
				return err
			}
		}
		if t.State == Published {
			if err := errors.Join(countThing(ctx, tx, t, -1), s.emitThing(ctx, tx, ThingUnpublishedEvent, t)); err != nil {
				return err
			}
			// The makes of a thing that is not published are hidden, and become visible when it is deleted.
		} else if err := s.countMakesOf(ctx, tx, id, 1); err != nil {
			return err
		}
		if deleted.CollectionIDs, err = removeFromAllCollections(ctx, tx, caller, id); err != nil {
			return err
		}
		if err := deleteLikes(ctx, tx, Target{OnThing, id}); err != nil {
			return err
		}
		if err := s.deleteComments(ctx, tx, Target{OnThing, id}); err != nil {
			return err
		}
		if err := resolveReports(ctx, tx, caller, Target{OnThing, id}, t.OwnerID, reason); err != nil {
			return err
		}
		for _, statement := range []string{
			// Files of makes keep their downloads. If the downloads are being folded, that transaction waits
			// for the thing, and the deletion of new downloads waits for that transaction: PostgreSQL aborts
			// one of the two, which is then retried.
			"UPDATE files SET download_count = download_count + (SELECT count(*) FROM new_downloads AS nd WHERE nd.thing_id = ?0 AND nd.file_id = files.id) WHERE thing_id = ?0 AND target_type <> 'thing'",
			"DELETE FROM new_downloads WHERE thing_id = ?0",
			"DELETE FROM downloads WHERE thing_id = ?0",
			"DELETE FROM files WHERE target_type = 'thing' AND target_id = ?0",
			// Files of makes, and comments on makes with their files, do not belong to a thing any more.
			"UPDATE files SET thing_id = 0 WHERE thing_id = ?0",
			"UPDATE comments SET thing_id = NULL WHERE thing_id = ?0",
			"UPDATE makes SET thing_id = NULL WHERE thing_id = ?0",
			"DELETE FROM things WHERE id = ?0",
		} {
			if _, err := tx.NewRaw(statement, id).Exec(ctx); err != nil {
				return err
			}
		}
		if err := s.recordDeletion(ctx, tx, caller, ModerationEntry{Action: DeletedThing, UserID: t.OwnerID, ThingID: id, Reason: reason}); err != nil {
			return err
		}
		return s.db.index(ctx, tx, thingIndex, id)
	})
	return deleted, err
}
