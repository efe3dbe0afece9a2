package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// TargetType is a type of objects that files or comments are attached to.
type TargetType string

// The targets of files. Comments are attached to things and makes.
const (
	OnThing   TargetType = "thing"
	OnMake    TargetType = "make"
	OnComment TargetType = "comment"
)

// Other objects that can be liked and watched, or that notifications can be about.
const (
	OnCollection TargetType = "collection"
	OnUser       TargetType = "user"
	OnFile       TargetType = "file"
)

// Target names one thing, make or comment.
type Target struct {
	Type TargetType
	ID   int64
}

// Owned is a locked target of the caller.
type Owned struct {
	Target
	Owner   int64 // of the target
	ThingID int64 // the thing, or that of the make or comment; 0: none
	Make    *Make // if the target is a make
	// published reports whether the target is a published thing.
	published bool
}

// LockOwned locks a target of the caller until tx ends, so that concurrent finalizations to it run
// one after the other. It returns Forbidden if the target belongs to another user or is taken down.
// A comment must be on an object that the caller can see.
func (s *Store) LockOwned(ctx context.Context, tx bun.Tx, caller auth.Caller, target Target) (Owned, error) {
	o := Owned{Target: target}
	var down error // why the caller cannot change the target although it is theirs
	switch target.Type {
	case OnThing:
		t, err := s.LockThing(ctx, tx, target.ID)
		if err != nil {
			return o, err
		}
		o.Owner, o.ThingID, o.published, down = t.OwnerID, t.ID, t.State == Published, t.CheckNotTakenDown(caller)
		if t.OwnerID != caller.UserID {
			return o, t.ofSomeoneElse(caller)
		}
	case OnMake:
		m, err := s.LockMake(ctx, tx, target.ID)
		if err != nil {
			return o, err
		}
		o.Owner, o.ThingID, o.Make, down = m.OwnerID, m.ThingID, m, m.CheckNotTakenDown(caller)
	case OnComment:
		c := new(Comment)
		if err := tx.NewSelect().Model(c).Where("cm.id = ?", target.ID).Scan(ctx); err != nil {
			return o, NoSuchIfNoRows(err, "comment", target.ID)
		}
		// The target of the comment is locked before the comment, as in deletions.
		if _, err := s.LockVisibleTarget(ctx, tx, caller, Target{c.TargetType, c.TargetID}); err != nil {
			return o, OfHiddenComment(err, c.ID)
		}
		c, err := s.LockComment(ctx, tx, target.ID)
		if err != nil {
			return o, err
		}
		if c.IsDeleted() {
			return o, NoSuch("comment", target.ID)
		}
		o.Owner, o.ThingID = c.OwnerID, c.ThingID
	case OnAvatar, OnCover:
		if _, err := s.LockAccount(ctx, tx, target.ID); err != nil {
			return o, err
		}
		o.Owner = target.ID
	default:
		return o, Invalid("target", "target: must be a thing, a make or a comment")
	}
	if o.Owner != caller.UserID {
		return o, Fail(Forbidden, "%s %d belongs to someone else", target.Type, target.ID)
	}
	return o, down
}

// Touch sets the modification time of a thing or a make whose list of files has changed. It does
// nothing for other targets.
func Touch(ctx context.Context, tx bun.Tx, target Target) error {
	table, ok := map[TargetType]string{OnThing: "things", OnMake: "makes"}[target.Type]
	if !ok {
		return nil
	}
	_, err := tx.NewUpdate().Table(table).Set("modified_at = ?", Now()).Where("id = ?", target.ID).Exec(ctx)
	return err
}

// OfHiddenComment returns err or, if it is NotFound for the target of a comment, NotFound for the
// comment: the error would reveal the ID of an unlisted thing.
func OfHiddenComment(err error, commentID int64) error {
	if CodeOf(err) == NotFound {
		return NoSuch("comment", commentID)
	}
	return err
}

// LockVisibleTarget checks that a thing or a make exists and that the caller can see it, prevents
// its deletion until tx ends, and returns its creator. It returns NotFound or Forbidden otherwise,
// with the creator if the object exists.
func (s *Store) LockVisibleTarget(ctx context.Context, tx bun.Tx, caller auth.Caller,
	target Target) (owner int64, err error) {
	switch target.Type {
	case OnThing:
		t, err := s.lockThingForShare(ctx, tx, target.ID)
		if err != nil {
			return 0, err
		}
		return t.OwnerID, t.Allows(caller)
	case OnMake:
		// The thing is locked before the make, as in deletions.
		m := new(Make)
		query := func() *bun.SelectQuery { return tx.NewSelect().Model(m).Where("m.id = ?", target.ID) }
		if err := query().Scan(ctx); err != nil {
			return 0, NoSuchIfNoRows(err, "make", target.ID)
		}
		if m.ThingID != 0 {
			t, err := s.lockThingForShare(ctx, tx, m.ThingID)
			if err != nil && CodeOf(err) != NotFound { // it may have been deleted since, without the make
				return 0, err
			}
			if err == nil {
				err = t.Allows(caller)
				if CodeOf(err) == NotFound {
					err = NoSuch("make", target.ID) // the error would reveal the ID of an unlisted thing
				}
				if err != nil {
					return m.OwnerID, err
				}
			}
		}
		if err := s.DB.ForShare(query()).Scan(ctx); err != nil {
			return 0, NoSuchIfNoRows(err, "make", target.ID)
		}
		return m.OwnerID, m.Allows(caller)
	}
	return 0, Invalid("target", "target: must be a thing or a make")
}

// lockThingForShare reads a thing and prevents its deletion until tx ends. It returns NotFound if
// there is no such thing.
func (s *Store) lockThingForShare(ctx context.Context, tx bun.Tx, id int64) (*Thing, error) {
	t := new(Thing)
	err := s.DB.ForShare(tx.NewSelect().Model(t).Where("t.id = ?", id)).Scan(ctx)
	return t, NoSuchIfNoRows(err, "thing", id)
}

// LockVisibleLikeable is lockVisibleTarget for objects that can be liked and watched: things, makes
// and collections.
func (s *Store) LockVisibleLikeable(ctx context.Context, tx bun.Tx, caller auth.Caller,
	target Target) (owner int64, err error) {
	switch target.Type {
	case OnCollection:
		c := new(Collection)
		err := s.DB.ForShare(tx.NewSelect().Model(c).Column("co.id", "co.owner_id", "co.visibility").
			Where("co.id = ?", target.ID)).Scan(ctx)
		if err != nil {
			return 0, NoSuchIfNoRows(err, "collection", target.ID)
		}
		return c.OwnerID, c.Allows(caller)
	case OnThing, OnMake:
		return s.LockVisibleTarget(ctx, tx, caller, target)
	}
	return 0, Invalid("target", "target: must be a thing, a make or a collection")
}
