package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// IsTakenDown reports whether the thing is taken down.
func (t *Thing) IsTakenDown() bool { return t.TakenDownAt != nil }

// CheckNotTakenDown returns Forbidden if the thing is taken down: until a moderator restores it,
// its creator cannot change or delete it, or anything that is attached to it. It returns nil for
// those who can restore it.
func (t *Thing) CheckNotTakenDown(caller auth.Caller) error {
	if !t.IsTakenDown() || CheckDecides(caller, t.OwnerID) == nil {
		return nil
	}
	return Fail(Forbidden, "thing %d was taken down by a moderator, and cannot be changed until it is restored: %s", t.ID,
		t.TakedownReason)
}

// CheckNotTakenDown returns Forbidden if the make is hidden because its thing was taken down and
// deleted. It returns nil for those who can restore it.
func (m *Make) CheckNotTakenDown(caller auth.Caller) error {
	if m.TakenDownAt == nil || CheckDecides(caller, m.OwnerID) == nil {
		return nil
	}
	return Fail(Forbidden, "make %d is of a thing that was taken down by a moderator, and cannot be changed", m.ID)
}

// takeDownMakes hides the makes of a locked, taken-down thing that is about to be deleted, because
// otherwise they would become public. The makes must be locked. They have not been counted since
// the takedown.
func (s *Store) takeDownMakes(ctx context.Context, tx bun.Tx, thingID int64) error {
	var makes []*Make
	if err := tx.NewSelect().Model(&makes).Where("m.thing_id = ?", thingID).Order("m.id").Scan(ctx); err != nil {
		return err
	}
	at := Now()
	for _, m := range makes {
		m.State, m.TakenDownAt = Draft, &at
		if _, err := tx.NewUpdate().Model(m).Column("state", "taken_down_at").WherePK().Exec(ctx); err != nil {
			return err
		}
		if err := s.DB.Index(ctx, tx, MakeIndex, m.ID); err != nil {
			return err
		}
	}
	return nil
}
