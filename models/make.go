package models

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// Make is somebody's print of a thing.
type Make struct {
	bun.BaseModel `bun:"table:makes,alias:m"`

	ID          int64 `bun:",pk,autoincrement"`
	ThingID     int64
	OwnerID     int64
	Name        string
	Description string // Markdown
	State       PublicationState
	CreatedAt   time.Time
	PublishedAt *time.Time
}

// NewMake is what a make is made of.
type NewMake struct {
	ThingID     int64
	Name        string // empty: the thing's
	Description string
	PictureName *string // the file name of a picture to come; the make stays a draft until its first file is finalized
}

// CreateMake records that the caller made a thing that he may see, and stages the upload of its picture where it has one.
func (s *Store) CreateMake(ctx context.Context, caller auth.Caller, n NewMake) (*Make, *StagedUpload, error) {
	if err := errors.Join(text("name", n.Name, maxName), text("description", n.Description, maxText)); err != nil {
		return nil, nil, err
	}
	m := &Make{ThingID: n.ThingID, OwnerID: caller.UserID, Name: strings.TrimSpace(n.Name), Description: n.Description, State: Draft, CreatedAt: now()}
	var picture *StagedUpload
	if n.PictureName == nil {
		m.State, m.PublishedAt = Published, &m.CreatedAt
	}
	err := s.db.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		t, err := s.lockThing(ctx, tx, n.ThingID)
		if err != nil {
			return err
		}
		if !t.visibleTo(caller) {
			return fail(Forbidden, "thing %d is a draft of someone else", t.ID)
		}
		if m.Name == "" {
			m.Name = t.Name
		}
		if _, err = tx.NewInsert().Model(m).Exec(ctx); err != nil || n.PictureName == nil {
			return err
		}
		picture, err = s.stage(ctx, tx, caller, *n.PictureName, owned{Target{OnMake, m.ID}, m.ThingID, m})
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return m, picture, nil
}

// Make gives a make that the caller may see.
func (s *Store) Make(ctx context.Context, caller auth.Caller, id int64) (*Make, error) {
	found, err := s.MakesByID(ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	m, ok := found[id]
	if !ok {
		return nil, missing("make", id)
	}
	if m.State != Published && m.OwnerID != caller.UserID && !caller.Staff() {
		return nil, fail(Forbidden, "make %d is a draft of someone else", id)
	}
	if _, err := s.Thing(ctx, caller, m.ThingID); err != nil {
		return nil, err
	}
	return m, nil
}

// MakesByID gives the makes of those ids, for a caller who may see what refers to them.
func (s *Store) MakesByID(ctx context.Context, ids []int64) (map[int64]*Make, error) {
	return byID(ctx, s.db.read, ids, "m.id", func(m *Make) int64 { return m.ID })
}
