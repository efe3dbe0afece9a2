package models

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// An image is either an image file, whose ID is that of the file, or the rendering of a model,
// which has its own ID (File.RenderingID) from the same sequence. A model gets the ID of its
// rendering when it is finalized, and keeps it when the rendering is generated again. Removing the
// rendering sets the ID to 0, so that generating it again does not restore it, and does not change
// the model.

// ImageID returns the ID of the file as an image, or 0 if it is not an image.
func (f *File) ImageID() int64 {
	if f.Kind == Image {
		return f.ID
	}
	return f.RenderingID
}

// ImageRank returns the rank of the file among the images of its target. It is nil for a rendering
// without a rank: those follow all others, in the order of their models.
func (f *File) ImageRank() *int32 {
	if f.Kind == Image {
		return &f.Rank
	}
	return f.RenderingRank
}

// imageOrder sorts the files that are images. It must agree with CompareImages.
const imageOrder = "CASE WHEN files.kind <> 'image' AND files.rendering_rank IS NULL THEN 1 ELSE 0 END, " +
	"CASE WHEN files.kind <> 'image' THEN coalesce(files.rendering_rank, files.rank) ELSE files.rank END, files.id"

// CompareImages orders two files that are images: by rank, then by ID, and renderings without a
// rank last.
func CompareImages(a, b *File) int {
	ra, rb := a.ImageRank(), b.ImageRank()
	switch {
	case ra == nil && rb != nil:
		return 1
	case ra != nil && rb == nil:
		return -1
	case ra == nil:
		ra, rb = &a.Rank, &b.Rank
	}
	return cmp.Or(cmp.Compare(*ra, *rb), cmp.Compare(a.ID, b.ID))
}

// ImageChange is the input of UpdateImage. If Rank or IsDefault is nil, it is left unchanged.
type ImageChange struct {
	ID        int64
	Target    *Target // what the image must belong to; nil: anything
	Rank      *int32
	IsDefault *bool // true moves the image before all others, after Rank
}

// UpdateImage changes the rank of an image among the images of its target, which must belong to the
// caller. It opens a transaction and returns the file of the image.
func (s *Store) UpdateImage(ctx context.Context, caller auth.Caller, c ImageChange) (*File, error) {
	fileID, err := s.changeImage(ctx, caller, c.ID, c.Target, ownerOnly, func(ctx context.Context, tx bun.Tx, f *File, _ int64) error {
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
		if f.Kind == Image {
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
	return s.File(ctx, caller, AllFileFields, fileID)
}

// firstImageRank returns a rank that puts a file before the other images of its target.
func firstImageRank(ctx context.Context, tx bun.Tx, f *File) (int32, error) {
	var least sql.NullInt64
	err := tx.NewSelect().Table("files").ColumnExpr("min(CASE WHEN kind = ? THEN rank ELSE rendering_rank END)", Image).
		Where("target_type = ? AND target_id = ? AND state = ? AND id <> ? AND (kind = ? OR rendering_id <> 0)", f.TargetType, f.TargetID, Finalized, f.ID, Image).
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
func (s *Store) DeleteImage(ctx context.Context, caller auth.Caller, id int64, on *Target, reason string) (of *File, err error) {
	_, err = s.changeImage(ctx, caller, id, on, ownerOrModerators, func(ctx context.Context, tx bun.Tx, f *File, owner int64) error {
		of = f
		var err error
		if f.Kind == Image {
			_, err = tx.NewDelete().Model(f).WherePK().Exec(ctx)
		} else {
			_, err = tx.NewUpdate().Model(f).Set("rendering_id = 0, rendering_rank = NULL").WherePK().Exec(ctx)
		}
		if err != nil {
			return err
		}
		return s.RecordDeletion(ctx, tx, caller, ModerationEntry{Action: DeletedFile, UserID: owner, ThingID: f.ThingID, ObjectID: id, Reason: reason})
	})
	return of, err
}

// changeImage is changeFile for an image. It returns the ID of the image's file.
func (s *Store) changeImage(ctx context.Context, caller auth.Caller, id int64, on *Target, who changers, change func(ctx context.Context, tx bun.Tx, f *File, owner int64) error) (int64, error) {
	fileID, err := s.imageFile(ctx, id)
	if err != nil {
		return 0, err
	}
	return fileID, s.changeFile(ctx, caller, fileID, on, who, func(ctx context.Context, tx bun.Tx, f *File, owner int64) error {
		if f.ImageID() != id {
			return NoSuch("image", id) // removed in the meantime
		}
		return change(ctx, tx, f, owner)
	})
}

// imageFile returns the ID of the file of an image.
func (s *Store) imageFile(ctx context.Context, id int64) (fileID int64, err error) {
	image := s.DB.Read.NewSelect().Table("files").Column("id").Where("id = ? AND kind = ? AND state = ?", id, Image, Finalized)
	rendering := s.DB.Read.NewSelect().Table("files").Column("id").Where("rendering_id = ? AND rendering_id <> 0 AND state = ?", id, Finalized)
	err = image.UnionAll(rendering).Scan(ctx, &fileID)
	return fileID, NoSuchIfNoRows(err, "image", id)
}

// AssignRenderingIDs assigns IDs to the renderings of the models among files.
func (s *Store) AssignRenderingIDs(ctx context.Context, tx bun.Tx, files []*File) error {
	models := slices.DeleteFunc(slices.Clone(files), func(f *File) bool { return f.Kind != Model })
	ids, err := s.DB.TakeIDs(ctx, tx, "files", len(models))
	for i, id := range ids {
		models[i].RenderingID = id
	}
	return err
}
