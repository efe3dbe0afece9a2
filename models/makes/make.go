package makes

import (
	"context"
	"errors"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/uploads"
)

// NewMake is the input of CreateMake.
type NewMake struct {
	ThingID     int64
	Name        string // empty: the name of the thing
	Description string
	// PictureName is the file name of an image to upload. If it is set, the make stays a draft until
	// its first file is finalized.
	PictureName *string
	Print       *NewMakePrint
}

// CreateMake creates a make of a thing that the caller can see. If n has an image, it stages the
// upload of the image; otherwise it publishes the make. It opens a transaction.
func (s *Store) CreateMake(ctx context.Context, caller auth.Caller,
	n NewMake) (*models.Make, *uploads.StagedUpload, error) {
	if err := errors.Join(models.CheckLine("name", n.Name, models.MaxName), models.CheckText("description", n.Description,
		models.MaxText), n.Print.check()); err != nil {
		return nil, nil, err
	}
	m := &models.Make{ThingID: n.ThingID, OwnerID: caller.UserID, Name: strings.TrimSpace(n.Name),
		Description: n.Description, State: models.Draft, CreatedAt: models.Now(), Print: n.Print.stated()}
	var html models.RenderedHTML
	if err := s.core.RenderTo(ctx, &html, models.MakeDescription, &n.Description); err != nil {
		return nil, nil, err
	}
	var picture *uploads.StagedUpload
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c := models.Claim{Makes: 1}
		if n.PictureName != nil {
			c.Pending = 1
		}
		if err := s.core.Claim(ctx, tx, caller.UserID, c); err != nil {
			return err
		}
		if _, err := s.core.LockVisibleTarget(ctx, tx, caller, models.Target{Type: models.OnThing,
			ID: n.ThingID}); err != nil {
			return models.About("thingId", err)
		}
		if m.Name == "" {
			if err := tx.NewSelect().Model((*models.Thing)(nil)).Column("t.name").Where("t.id = ?", n.ThingID).
				Scan(ctx, &m.Name); err != nil {
				return err
			}
		}
		_, err := html.Insert(tx.NewInsert().Model(m)).Exec(ctx)
		if err != nil {
			return err
		}
		if n.Print != nil {
			if err := savePrintedFiles(ctx, tx, m, n.Print.FileIDs); err != nil {
				return err
			}
		}
		if n.PictureName == nil {
			return s.core.PublishMake(ctx, tx, m)
		}
		picture, err = s.uploads.Stage(ctx, tx, caller, "pictureName", *n.PictureName,
			models.Owned{Target: models.Target{Type: models.OnMake, ID: m.ID}, Owner: m.OwnerID, ThingID: m.ThingID, Make: m})
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	m, err = s.core.Make(ctx, caller, models.AllMakeFields, m.ID)
	return m, picture, err
}

// Change is the input of UpdateMake. Nil fields are left unchanged.
type Change struct {
	ID          int64
	Name        *string
	Description *string
	Print       *NewMakePrint // replaces the old value as a whole; a zero value removes it
}

// UpdateMake changes a make of the caller. It returns Forbidden for a make of another user, and for
// one that is hidden by a takedown. It opens a transaction.
func (s *Store) UpdateMake(ctx context.Context, caller auth.Caller, c Change) (*models.Make, error) {
	if err := errors.Join(models.CheckName(c.Name), models.CheckOptional("description", c.Description, models.MaxText),
		c.Print.check()); err != nil {
		return nil, err
	}
	var html models.RenderedHTML
	if err := s.core.RenderTo(ctx, &html, models.MakeDescription, c.Description); err != nil {
		return nil, err
	}
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		m, err := s.core.LockMake(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		if m.OwnerID != caller.UserID {
			return models.Fail(models.Forbidden, "make %d belongs to someone else", c.ID)
		}
		if err := m.CheckNotTakenDown(caller); err != nil {
			return err
		}
		models.Assign(&m.Name, c.Name)
		models.Assign(&m.Description, c.Description)
		if c.Print != nil {
			m.Print = c.Print.stated()
			if err := savePrintedFiles(ctx, tx, m, c.Print.FileIDs); err != nil {
				return err
			}
		}
		m.ModifiedAt = new(models.Now())
		if _, err = html.Update(tx.NewUpdate().Model(m).Column("name", "description", "modified_at", "print").WherePK()).
			Exec(ctx); err != nil {
			return err
		}
		return s.core.DB.Index(ctx, tx, models.MakeIndex, m.ID)
	})
	if err != nil {
		return nil, err
	}
	return s.core.Make(ctx, caller, models.AllMakeFields, c.ID)
}

// DeleteMake deletes a make with its files, likes and comments. The caller must be its creator, or
// a moderator or an administrator with a reason. The garbage collector removes the bytes of the
// files, unless other files share them. It returns the make as it was. It opens a transaction.
func (s *Store) DeleteMake(ctx context.Context, caller auth.Caller, id int64,
	reason string) (deleted *models.Make, err error) {
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		m, err := s.core.LockMake(ctx, tx, id)
		if err != nil {
			return err
		}
		deleted = m
		if m.OwnerID != caller.UserID && !caller.Moderates() {
			return models.Fail(models.Forbidden, "make %d belongs to someone else", id)
		}
		if err := m.CheckNotTakenDown(caller); err != nil {
			return err
		}
		if m.State == models.Published {
			if err := m.CountAsPublished(ctx, tx, -1); err != nil {
				return err
			}
		}
		if err := s.core.Raise(ctx, tx, models.ObjectDeleted{Target: models.Target{Type: models.OnMake, ID: id},
			Owner: m.OwnerID, By: caller, Reason: reason}); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Model((*models.File)(nil)).Where("target_type = ? AND target_id = ?", models.OnMake, id).
			Exec(ctx); err != nil {
			return err
		}
		if _, err = tx.NewDelete().Model(m).WherePK().Exec(ctx); err != nil {
			return err
		}
		if err := s.core.RecordDeletion(ctx, tx, caller, models.ModerationEntry{Action: models.DeletedMake, UserID: m.OwnerID,
			ThingID: m.ThingID, ObjectID: id, Reason: reason}); err != nil {
			return err
		}
		return s.core.DB.Index(ctx, tx, models.MakeIndex, m.ID)
	})
	return deleted, err
}
