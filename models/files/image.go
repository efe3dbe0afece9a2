package files

import (
	"context"
	"database/sql"
	"math"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// ImageChange is the input of UpdateImage. If Rank or IsDefault is nil, it is left unchanged.
type ImageChange struct {
	ID        int64
	Target    *models.Target // what the image must belong to; nil: anything
	Rank      *int32
	IsDefault *bool // true moves the image before all others, after Rank
}

// UpdateImage changes the rank of an image among the images of its target, which must belong to the
// caller. It opens a transaction and returns the file of the image.
func (s *Store) UpdateImage(ctx context.Context, caller auth.Caller, c ImageChange) (*models.File, error) {
	fileID, err := s.changeImage(ctx, caller, c.ID, c.Target, models.OwnerOnly, func(ctx context.Context, tx bun.Tx,
		f *models.File, _ int64) error {
		rank := f.ImageRank()
		if c.Rank != nil {
			rank = c.Rank
		}
		if c.IsDefault != nil && *c.IsDefault {
			first, err := firstImageRank(ctx, tx, f)
			if err != nil {
				return err
			}
			rank = &first
		}
		if f.Kind == models.Image {
			f.Rank = *rank
		} else {
			f.RenderingRank = rank
		}
		_, err := tx.NewUpdate().Model(f).Column("rank", "rendering_rank").WherePK().Exec(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.core.File(ctx, caller, models.AllFileFields, fileID)
}

// firstImageRank returns a rank that puts a file before the other images of its target.
func firstImageRank(ctx context.Context, tx bun.Tx, f *models.File) (int32, error) {
	var least sql.NullInt64
	err := tx.NewSelect().Table("files").ColumnExpr("min(CASE WHEN kind = ? THEN rank ELSE rendering_rank END)",
		models.Image).
		Where("target_type = ? AND target_id = ? AND state = ? AND id <> ? AND (kind = ? OR rendering_id <> 0)", f.TargetType,
			f.TargetID, models.Finalized, f.ID, models.Image).
		Scan(ctx, &least)
	switch {
	case err != nil || !least.Valid:
		return 0, err
	case least.Int64 <= math.MinInt32:
		return math.MinInt32, nil
	}
	return int32(least.Int64 - 1), nil
}

// DeleteImage removes an image from its target. The caller must be the owner of the target, or a
// moderator or an administrator with a reason. If the image is a file, the file is deleted. If it
// is a rendering, only the rendering is removed: the model and its content stay. It returns the
// file as it was. It opens a transaction.
func (s *Store) DeleteImage(ctx context.Context, caller auth.Caller, id int64, on *models.Target,
	reason string) (of *models.File, err error) {
	_, err = s.changeImage(ctx, caller, id, on, models.OwnerOrModerators, func(ctx context.Context, tx bun.Tx,
		f *models.File, owner int64) error {
		of = f
		var err error
		if f.Kind == models.Image {
			_, err = tx.NewDelete().Model(f).WherePK().Exec(ctx)
		} else {
			_, err = tx.NewUpdate().Model(f).Set("rendering_id = 0, rendering_rank = NULL").WherePK().Exec(ctx)
		}
		if err != nil {
			return err
		}
		return s.core.RecordDeletion(ctx, tx, caller, models.ModerationEntry{Action: models.DeletedFile, UserID: owner,
			ThingID: f.ThingID, ObjectID: id, Reason: reason})
	})
	return of, err
}

// changeImage is changeFile for an image. It returns the ID of the image's file.
func (s *Store) changeImage(ctx context.Context, caller auth.Caller, id int64, on *models.Target, who models.Changers,
	change func(ctx context.Context, tx bun.Tx, f *models.File, owner int64) error) (int64, error) {
	fileID, err := s.imageFile(ctx, id)
	if err != nil {
		return 0, err
	}
	return fileID, s.core.ChangeFile(ctx, caller, fileID, on, who, func(ctx context.Context, tx bun.Tx, f *models.File,
		owner int64) error {
		if f.ImageID() != id {
			return models.NoSuch("image", id) // removed in the meantime
		}
		return change(ctx, tx, f, owner)
	})
}

// imageFile returns the ID of the file of an image.
func (s *Store) imageFile(ctx context.Context, id int64) (fileID int64, err error) {
	image := s.core.DB.Read.NewSelect().Table("files").Column("id").Where("id = ? AND kind = ? AND state = ?", id,
		models.Image, models.Finalized)
	rendering := s.core.DB.Read.NewSelect().Table("files").Column("id").
		Where("rendering_id = ? AND rendering_id <> 0 AND state = ?", id, models.Finalized)
	err = image.UnionAll(rendering).Scan(ctx, &fileID)
	return fileID, models.NoSuchIfNoRows(err, "image", id)
}
