package files

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// FileDeletion describes a file to delete.
type FileDeletion struct {
	ID           int64
	Target       *models.Target    // the required target, unless nil
	Kinds        []models.FileKind // the required kinds, unless empty
	AllowNoModel bool              // even if a published thing then has no model
	Reason       string            // why a moderator deletes it
}

// DeleteFile removes a finalized file from its target, for the owner of the target or a moderator.
// Downloads of the file stay in the histories of users. A garbage collection removes the content
// after Options.KeepDeleted if no other file has it. It returns the file as it was. It opens a
// transaction.
func (s *Store) DeleteFile(ctx context.Context, caller auth.Caller, d FileDeletion) (deleted *models.File, err error) {
	id := d.ID
	err = s.core.ChangeFile(ctx, caller, id, d.Target, models.OwnerOrModerators, func(ctx context.Context, tx bun.Tx,
		f *models.File, owner int64) error {
		deleted = f
		if len(d.Kinds) > 0 && !slices.Contains(d.Kinds, f.Kind) {
			return models.NoSuch("file", id) // not of the required kinds
		}
		if err := loseModel(ctx, tx, f, d.AllowNoModel); err != nil {
			return err
		}
		// The downloads stay in the count of the thing. Only the file's own count is deleted with its
		// row.
		if _, err := tx.NewDelete().Model(f).WherePK().Exec(ctx); err != nil {
			return err
		}
		return s.core.RecordDeletion(ctx, tx, caller, models.ModerationEntry{Action: models.DeletedFile, UserID: owner,
			ThingID: f.ThingID, ObjectID: id, Reason: d.Reason})
	})
	return deleted, err
}

// loseModel is called before a file is deleted, or stops being a model, of a target that is locked.
// If it is the only model of a published thing, loseModel returns BadInput unless allowed is set.
// If it is the only model of a thing that was published before it was taken down, the thing becomes
// a draft when it is restored, because publication requires a model.
func loseModel(ctx context.Context, tx bun.Tx, f *models.File, allowed bool) error {
	if f.TargetType != models.OnThing || f.Kind != models.Model {
		return nil
	}
	t := new(models.Thing)
	err := tx.NewSelect().Model(t).Column("t.id", "t.state").
		Where("t.id = ? AND (t.state <> ? OR t.hidden_state NOT IN ('', ?))", f.TargetID, models.Draft, models.Draft).
		Where("NOT EXISTS (SELECT 1 FROM files AS o WHERE o.target_type = ? AND o.target_id = t.id AND o.state = ? AND o.kind = ? AND o.id <> ?)", models.OnThing, models.Finalized, models.Model, f.ID).
		Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	case t.State == models.Draft:
		_, err := tx.NewUpdate().Model(t).Set("hidden_state = ?", models.Draft).WherePK().Exec(ctx)
		return err
	case allowed:
		return nil
	}
	return models.Invalid("id",
		"file %d is the only model of thing %d, which is published: add another model first, or unpublish the thing", f.ID,
		f.TargetID).
		WithFieldCode(apierror.FieldModelRequired)
}
