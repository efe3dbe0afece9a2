package models

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// PublicationState tells who may see a thing or a make: a draft its owner alone, a published one everybody.
type PublicationState string

// The states of publication.
const (
	Draft     PublicationState = "draft"
	Published PublicationState = "published"
)

// Thing is a shareable design: files belong to it, makes and comments refer to it.
type Thing struct {
	bun.BaseModel `bun:"table:things,alias:t"`

	ID           int64 `bun:",pk,autoincrement"`
	OwnerID      int64
	Name         string
	State        PublicationState
	License      License
	CategoryID   int64
	Description  string // Markdown
	Instructions string // Markdown
	IsWIP        bool   `bun:"is_wip"`
	CreatedAt    time.Time
	ModifiedAt   time.Time
	PublishedAt  *time.Time
}

type thingTag struct {
	bun.BaseModel `bun:"table:thing_tags,alias:tt"`

	ThingID  int64 `bun:",pk"`
	Position int   `bun:",pk"`
	Name     string
}

// NewThing is what a thing is made of.
type NewThing struct {
	Name         string
	License      License
	Category     string // id, name or slug
	Description  string
	Instructions string
	IsWIP        bool
	Tags         []string
	Files        []FinalizeFile // pending uploads to finalize onto it in the same stroke
}

// CreateThing makes a draft that belongs to the caller.
func (s *Store) CreateThing(ctx context.Context, caller auth.Caller, n NewThing) (*Thing, error) {
	if strings.TrimSpace(n.Name) == "" {
		return nil, badInput("name", "name: must not be blank")
	}
	if err := errors.Join(text("name", n.Name, maxName), texts(maxText, "description", n.Description, "instructions", n.Instructions)); err != nil {
		return nil, err
	}
	tags, err := cleanTags(n.Tags)
	if err != nil {
		return nil, err
	}
	at := now()
	t := &Thing{
		OwnerID: caller.UserID, Name: n.Name, State: Draft, License: n.License, Description: n.Description,
		Instructions: n.Instructions, IsWIP: n.IsWIP, CreatedAt: at, ModifiedAt: at,
	}
	if err := text("category", n.Category, maxName); err != nil {
		return nil, err
	}
	var promoted []string
	if len(n.Files) > 0 {
		if promoted, err = s.promote(ctx, caller, n.Files); err != nil {
			return nil, err
		}
	}
	err = s.db.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := category(ctx, tx, n.Category)
		if err != nil {
			return err
		}
		t.CategoryID = c.ID
		if _, err := tx.NewInsert().Model(t).Exec(ctx); err != nil {
			return err
		}
		if len(tags) > 0 {
			rows := make([]thingTag, len(tags))
			for i, tag := range tags {
				rows[i] = thingTag{ThingID: t.ID, Position: i, Name: tag}
			}
			if _, err := tx.NewInsert().Model(&rows).Exec(ctx); err != nil {
				return err
			}
		}
		if len(n.Files) == 0 {
			return nil
		}
		return s.finalize(ctx, tx, caller, n.Files, Target{Type: OnThing, ID: t.ID})
	})
	if err != nil {
		return nil, err
	}
	s.sweep(ctx, promoted)
	return t, nil
}

// cleanTags trims tags and drops blanks and repetitions, which differ by nothing but case.
func cleanTags(tags []string) ([]string, error) {
	var clean []string
	seen := make(map[string]bool)
	for _, tag := range tags {
		tag = strings.Join(strings.Fields(tag), " ")
		if err := text("tags", tag, maxTag); err != nil {
			return nil, err
		}
		if key := strings.ToLower(tag); tag != "" && !seen[key] {
			seen[key] = true
			clean = append(clean, tag)
		}
	}
	if len(clean) > maxTags {
		e := badInput("tags", "tags: %d, at most %d are taken", len(clean), maxTags)
		e.Limit = maxTags
		return nil, e
	}
	return clean, nil
}

// PublishThing shows a draft to everybody. One that is published already stays as it is.
func (s *Store) PublishThing(ctx context.Context, caller auth.Caller, id int64) (*Thing, error) {
	var t *Thing
	err := s.db.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var err error
		if t, err = s.lockThing(ctx, tx, id); err != nil {
			return err
		}
		if t.OwnerID != caller.UserID {
			return fail(Forbidden, "thing %d belongs to someone else", id)
		}
		if t.State == Published {
			return nil
		}
		var reasons []string
		if strings.TrimSpace(t.Description) == "" {
			reasons = append(reasons, "description: must not be blank")
		}
		hasModel, err := tx.NewSelect().Model((*File)(nil)).
			Where("f.target_type = ? AND f.target_id = ? AND f.state = ? AND f.kind = ?", OnThing, id, Finalized, Model).Exists(ctx)
		if err != nil {
			return err
		}
		if !hasModel {
			reasons = append(reasons, "files: needs at least one model file")
		}
		if len(reasons) > 0 {
			e := badInput("id", "thing %d cannot be published: %s", id, strings.Join(reasons, "; "))
			e.Reasons = reasons
			return e
		}
		at := now()
		t.State, t.PublishedAt, t.ModifiedAt = Published, &at, at
		_, err = tx.NewUpdate().Model(t).Column("state", "published_at", "modified_at").WherePK().Exec(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// lockThing reads a thing and holds its row until tx ends.
func (s *Store) lockThing(ctx context.Context, tx bun.Tx, id int64) (*Thing, error) {
	t := new(Thing)
	err := s.db.forUpdate(tx.NewSelect().Model(t).Where("t.id = ?", id)).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, missing("thing", id)
	}
	return t, err
}

// Thing gives a thing that the caller may see.
func (s *Store) Thing(ctx context.Context, caller auth.Caller, id int64) (*Thing, error) {
	found, err := s.ThingsByID(ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	t, ok := found[id]
	if !ok {
		return nil, missing("thing", id)
	}
	if !t.visibleTo(caller) {
		return nil, fail(Forbidden, "thing %d is a draft of someone else", id)
	}
	return t, nil
}

func (t *Thing) visibleTo(caller auth.Caller) bool {
	return t.State == Published || t.OwnerID == caller.UserID || caller.Staff()
}

// ThingsByID gives the things of those ids, for a caller who may see what refers to them.
func (s *Store) ThingsByID(ctx context.Context, ids []int64) (map[int64]*Thing, error) {
	return byID(ctx, s.db.read, ids, "t.id", func(t *Thing) int64 { return t.ID })
}

// TagsOf gives the tags of things, in the order in which their owners gave them.
func (s *Store) TagsOf(ctx context.Context, thingIDs []int64) (map[int64][]string, error) {
	tags := make(map[int64][]string, len(thingIDs))
	if len(thingIDs) == 0 {
		return tags, nil
	}
	var rows []thingTag
	err := s.db.read.NewSelect().Model(&rows).Where("tt.thing_id IN (?)", bun.List(thingIDs)).Order("tt.thing_id", "tt.position").Scan(ctx)
	for _, row := range rows {
		tags[row.ThingID] = append(tags[row.ThingID], row.Name)
	}
	return tags, err
}
