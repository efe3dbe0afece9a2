package files

import (
	"context"
	"path"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// maxNote is the maximum number of characters of a note on a file.
const maxNote = 2_000

// FileChange is the input of UpdateFile. Nil fields are left unchanged.
type FileChange struct {
	ID     int64
	Target *models.Target // the required target, unless nil
	Name   *string        // must keep the extension
	Kind   *models.FileKind
	Rank   *int32
	Note   *string
}

// UpdateFile changes a finalized file on a target of the caller. It returns BadInput if the name
// has another extension, if the kind does not fit the content, or if a published thing would have
// no model. It opens a transaction.
func (s *Store) UpdateFile(ctx context.Context, caller auth.Caller, c FileChange) (*models.File, error) {
	if err := models.CheckOptional("note", c.Note, maxNote); err != nil {
		return nil, err
	}
	err := s.core.ChangeFile(ctx, caller, c.ID, c.Target, models.OwnerOnly, func(ctx context.Context, tx bun.Tx,
		f *models.File, _ int64) error {
		if c.Name != nil {
			name, err := models.CleanFilename("name", *c.Name)
			if err != nil {
				return err
			}
			if !strings.EqualFold(path.Ext(name), path.Ext(f.Name)) {
				return models.Invalid("name", "name: must keep the extension %q", path.Ext(f.Name))
			}
			f.Name = name
		}
		if c.Kind != nil && *c.Kind != f.Kind {
			if err := s.changeKind(ctx, tx, f, *c.Kind); err != nil {
				return err
			}
		}
		models.Assign(&f.Rank, c.Rank)
		models.Assign(&f.Note, c.Note)
		_, err := tx.NewUpdate().Model(f).Column("name", "kind", "rank", "note", "rendering_id", "rendering_rank").WherePK().
			Exec(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.core.File(ctx, caller, models.AllFileFields, c.ID)
}

// changeKind makes a locked file a model or an attachment. The rendering of a model is an image of
// its target, and that of an attachment is not.
func (s *Store) changeKind(ctx context.Context, tx bun.Tx, f *models.File, to models.FileKind) error {
	if f.Kind == models.Image || to == models.Image {
		return models.Invalid("kind", "kind: whether file %d is an IMAGE follows from its bytes, and cannot be changed", f.ID)
	}
	if to == models.Attachment {
		if err := loseModel(ctx, tx, f, false); err != nil {
			return err
		}
		f.Kind, f.RenderingID, f.RenderingRank = to, 0, nil
		return nil
	}
	f.Kind = to
	return s.core.AssignRenderingIDs(ctx, tx, []*models.File{f})
}
