package models

import (
	"context"
	"errors"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

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
func (s *Store) DeleteThing(ctx context.Context, caller auth.Caller, id int64,
	reason string) (deleted *RemovedThing, err error) {
	err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		deleted, err = s.RemoveThing(ctx, tx, caller, id, reason)
		return err
	})
	return deleted, err
}

// LockDeletable locks a thing that the caller may delete.
func (s *Store) LockDeletable(ctx context.Context, tx bun.Tx, caller auth.Caller, id int64) (*Thing, error) {
	t, err := s.LockThingOrDeleted(ctx, tx, id)
	if err == nil && t.OwnerID != caller.UserID && !caller.Moderates() {
		err = t.ofSomeoneElse(caller)
	}
	if err == nil {
		err = t.CheckNotTakenDown(caller)
	}
	return t, err
}

// RemoveThing is DeleteThing in a transaction of the caller.
func (s *Store) RemoveThing(ctx context.Context, tx bun.Tx, caller auth.Caller, id int64,
	reason string) (deleted *RemovedThing, err error) {
	t, err := s.LockDeletable(ctx, tx, caller, id)
	if err != nil {
		return nil, err
	}
	ancestors, err := ancestorIDs(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	deleted = &RemovedThing{Thing: t, AncestorIDs: ancestors}
	if err := s.lockBelow(ctx, tx, id); err != nil {
		return nil, err
	}
	if t.IsTakenDown() {
		if err := s.takeDownMakes(ctx, tx, id); err != nil {
			return nil, err
		}
	}
	if t.State == Published {
		if err := errors.Join(countThing(ctx, tx, t, -1), s.Raise(ctx, tx, ThingUnpublished{t})); err != nil {
			return nil, err
		}
		// The makes of a thing that is not published are hidden, and become visible when it is deleted.
	} else if err := s.countMakesOf(ctx, tx, id, 1); err != nil {
		return nil, err
	}
	if deleted.CollectionIDs, err = removeFromAllCollections(ctx, tx, caller, id); err != nil {
		return nil, err
	}
	if err := s.Raise(ctx, tx, ObjectDeleted{Target{OnThing, id}, t.OwnerID, caller, reason}); err != nil {
		return nil, err
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
			return nil, err
		}
	}
	if err := s.RecordDeletion(ctx, tx, caller, ModerationEntry{Action: DeletedThing, UserID: t.OwnerID, ThingID: id,
		Reason: reason}); err != nil {
		return nil, err
	}
	return deleted, s.DB.Index(ctx, tx, ThingIndex, id)
}

// lockBelow locks the makes and comments of a locked thing, so that no files are finalized for them
// at the same time. It locks makes before comments, as other code does, and both in the order of
// their IDs.
func (s *Store) lockBelow(ctx context.Context, tx bun.Tx, thingID int64) error {
	var makes, comments []int64
	err := s.DB.ForUpdate(tx.NewSelect().Model((*Make)(nil)).Column("m.id").Where("m.thing_id = ?", thingID).
		Order("m.id")).Scan(ctx, &makes)
	if err != nil {
		return err
	}
	return s.DB.ForUpdate(tx.NewSelect().Model((*Comment)(nil)).Column("cm.id").Where("cm.thing_id = ?", thingID).
		Order("cm.id")).Scan(ctx, &comments)
}

// MaxIDs is the maximum length of a list of IDs.
const MaxIDs = 10_000
