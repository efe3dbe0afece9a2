package models

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// Comment is what somebody says about a thing or a make.
type Comment struct {
	bun.BaseModel `bun:"table:comments,alias:cm"`

	ID         int64 `bun:",pk,autoincrement"`
	OwnerID    int64
	TargetType TargetType
	TargetID   int64
	ThingID    int64 // the thing at the root of the target
	Body       string
	CreatedAt  time.Time
}

// CreateComment says something about a thing or a make that the caller may see.
func (s *Store) CreateComment(ctx context.Context, caller auth.Caller, target Target, body string) (*Comment, error) {
	if strings.TrimSpace(body) == "" {
		return nil, badInput("body", "body: must not be blank")
	}
	if err := text("body", body, maxText); err != nil {
		return nil, err
	}
	c := &Comment{OwnerID: caller.UserID, TargetType: target.Type, TargetID: target.ID, Body: body, CreatedAt: now()}
	switch target.Type {
	case OnThing:
		t, err := s.Thing(ctx, caller, target.ID)
		if err != nil {
			return nil, err
		}
		c.ThingID = t.ID
	case OnMake:
		m, err := s.Make(ctx, caller, target.ID)
		if err != nil {
			return nil, err
		}
		c.ThingID = m.ThingID
	default:
		return nil, badInput("target", "target: want a thing or a make")
	}
	if _, err := s.db.write.NewInsert().Model(c).Exec(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Comment gives a comment on what the caller may see.
func (s *Store) Comment(ctx context.Context, caller auth.Caller, id int64) (*Comment, error) {
	found, err := s.CommentsByID(ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	c, ok := found[id]
	if !ok {
		return nil, missing("comment", id)
	}
	if c.TargetType == OnMake {
		_, err = s.Make(ctx, caller, c.TargetID)
	} else {
		_, err = s.Thing(ctx, caller, c.ThingID)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// CommentsByID gives the comments of those ids, for a caller who may see what refers to them.
func (s *Store) CommentsByID(ctx context.Context, ids []int64) (map[int64]*Comment, error) {
	return byID(ctx, s.db.read, ids, "cm.id", func(c *Comment) int64 { return c.ID })
}
