package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// TargetType is a kind of noun that files or comments hang on.
type TargetType string

// What files hang on; comments hang on things and makes.
const (
	OnThing   TargetType = "thing"
	OnMake    TargetType = "make"
	OnComment TargetType = "comment"
)

// What can be liked and watched besides, and what notifications can be about.
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

// owned is a target whose row is locked and belongs to the caller.
type owned struct {
	Target
	owner   int64 // of the target
	thingID int64 // the thing at the root
	make    *Make // where the target is one
}

// lockOwned locks a target that the caller owns until tx ends, a comment on what he may see, so
// that two finalizations onto it go one after the other.
func (s *Store) lockOwned(ctx context.Context, tx bun.Tx, caller auth.Caller, target Target) (owned, error) {
	o := owned{Target: target}
	var down error // why the target must not be changed though it is the caller's
	switch target.Type {
	case OnThing:
		t, err := s.lockThing(ctx, tx, target.ID)
		if err != nil {
			return o, err
		}
		o.owner, o.thingID, down = t.OwnerID, t.ID, t.checkNotTakenDown(caller)
	case OnMake:
		m, err := s.lockMake(ctx, tx, target.ID)
		if err != nil {
			return o, err
		}
		o.owner, o.thingID, o.make, down = m.OwnerID, m.ThingID, m, m.checkNotTakenDown(caller)
	case OnComment:
		c := new(Comment)
		if err := tx.NewSelect().Model(c).Where("cm.id = ?", target.ID).Scan(ctx); err != nil {
			return o, gone(err, "comment", target.ID)
		}
		// What it is on before the comment, as deletions lock them.
		if _, err := s.holdTarget(ctx, tx, caller, Target{c.TargetType, c.TargetID}); err != nil {
			return o, err
		}
		c, err := s.lockComment(ctx, tx, target.ID)
		if err != nil {
			return o, err
		}
		if c.IsDeleted() {
			return o, missing("comment", target.ID)
		}
		o.owner, o.thingID = c.OwnerID, c.ThingID
	default:
		return o, badInput("target", "target: want a thing, a make or a comment")
	}
	if o.owner != caller.UserID {
		return o, fail(Forbidden, "%s %d belongs to someone else", target.Type, target.ID)
	}
	return o, down
}

// holdTarget sees that a thing or a make is there and shows itself to the caller, keeps it from
// being deleted until tx ends, and gives its owner.
func (s *Store) holdTarget(ctx context.Context, tx bun.Tx, caller auth.Caller, target Target) (owner int64, err error) {
	switch target.Type {
	case OnThing:
		t := new(Thing)
		if err := s.db.forShare(tx.NewSelect().Model(t).Where("t.id = ?", target.ID)).Scan(ctx); err != nil {
			return 0, gone(err, "thing", target.ID)
		}
		return t.OwnerID, t.Allows(caller)
	case OnMake:
		// The thing before the make, as deletions lock them.
		m := new(Make)
		make := func() *bun.SelectQuery { return tx.NewSelect().Model(m).Where("m.id = ?", target.ID) }
		if err := make().Scan(ctx); err != nil {
			return 0, gone(err, "make", target.ID)
		}
		if m.ThingID != 0 {
			// it may be gone since, and the make not
			if _, err := s.holdTarget(ctx, tx, caller, Target{OnThing, m.ThingID}); err != nil && CodeOf(err) != NotFound {
				return 0, err
			}
		}
		if err := s.db.forShare(make()).Scan(ctx); err != nil {
			return 0, gone(err, "make", target.ID)
		}
		return m.OwnerID, m.Allows(caller)
	}
	return 0, badInput("target", "target: want a thing or a make")
}

// holdLikeable is holdTarget for what can be liked and watched: things, makes and collections.
func (s *Store) holdLikeable(ctx context.Context, tx bun.Tx, caller auth.Caller, target Target) (owner int64, err error) {
	switch target.Type {
	case OnCollection:
		c := new(Collection)
		err := s.db.forShare(tx.NewSelect().Model(c).Column("co.owner_id").Where("co.id = ?", target.ID)).Scan(ctx)
		return c.OwnerID, gone(err, "collection", target.ID)
	case OnThing, OnMake:
		return s.holdTarget(ctx, tx, caller, target)
	}
	return 0, badInput("target", "target: want a thing, a make or a collection")
}
