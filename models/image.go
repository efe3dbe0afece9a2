package models

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// An image is either an image file, whose id is that of the file, or the rendering of a model,
// which has an id of its own (File.RenderingID) from the same sequence. A model gets the id of its
// rendering when it is finalized, and keeps it however often the rendering is made. Removing the
// rendering sets the id to 0, so that making it again does not bring it back, and leaves the model
// as it is.

// ImageID returns the id under which the file is an image, or 0 if it is none.
func (f *File) ImageID() int64 {
	if f.Kind == Image {
		return f.ID
	}
	return f.RenderingID
}

// ImageRank returns the place of the file among the images of its target. It is nil for a rendering
// that was given none: those follow all others, in the order of their models.
func (f *File) ImageRank() *int32 {
	if f.Kind == Image {
		return &f.Rank
	}
	return f.RenderingRank
}

// imageOrder sorts the files that are images. It must agree with CompareImages.
const imageOrder = "CASE WHEN files.kind <> 'image' AND files.rendering_rank IS NULL THEN 1 ELSE 0 END, " +
	"CASE WHEN files.kind <> 'image' THEN coalesce(files.rendering_rank, files.rank) ELSE files.rank END, files.id"

// CompareImages orders two files that are images: by rank, then by id, and the renderings without a
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

// ImageChange is what to change of an image.
type ImageChange struct {
	ID        int64
	Target    *Target // what the image must be of, unless nil
	Rank      *int32
	IsDefault *bool // true moves the image before all others, after Rank
}

// UpdateImage changes the place of an image among the images of its target, which the caller must
// own. It opens a transaction and returns the file that the image shows.
func (s *Store) UpdateImage(ctx context.Context, caller auth.Caller, c ImageChange) (*File, error) {
	fileID, err := s.changeImage(ctx, caller, c.ID, c.Target, false, func(ctx context.Context, tx bun.Tx, f *File, _ int64) error {
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
	return s.File(ctx, caller, fileID)
}

// firstImageRank returns the rank that puts a file before the other images of its target.
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

// DeleteImage removes an image from its target, for the owner of the target or the staff. An image
// file is deleted. Of a rendering only the image is removed: the model and its bytes stay.
// It opens a transaction.
func (s *Store) DeleteImage(ctx context.Context, caller auth.Caller, id int64, on *Target) error {
	_, err := s.changeImage(ctx, caller, id, on, true, func(ctx context.Context, tx bun.Tx, f *File, owner int64) error {
		var err error
		if f.Kind == Image {
			_, err = tx.NewDelete().Model(f).WherePK().Exec(ctx)
		} else {
			_, err = tx.NewUpdate().Model(f).Set("rendering_id = 0, rendering_rank = NULL").WherePK().Exec(ctx)
		}
		if err != nil {
			return err
		}
		return recordDeletion(ctx, tx, caller, ModerationEntry{Action: DeletedFile, UserID: owner, ThingID: f.ThingID, ObjectID: id})
	})
	return err
}

// changeImage is changeFile for an image. It returns the id of the image's file.
func (s *Store) changeImage(ctx context.Context, caller auth.Caller, id int64, on *Target, staffMay bool, change func(ctx context.Context, tx bun.Tx, f *File, owner int64) error) (int64, error) {
	fileID, err := s.imageFile(ctx, id)
	if err != nil {
		return 0, err
	}
	return fileID, s.changeFile(ctx, caller, fileID, on, staffMay, func(ctx context.Context, tx bun.Tx, f *File, owner int64) error {
		if f.ImageID() != id {
			return missing("image", id) // removed since
		}
		return change(ctx, tx, f, owner)
	})
}

// imageFile returns the id of the file that an image shows.
func (s *Store) imageFile(ctx context.Context, id int64) (fileID int64, err error) {
	image := s.db.read.NewSelect().Table("files").Column("id").Where("id = ? AND kind = ? AND state = ?", id, Image, Finalized)
	rendering := s.db.read.NewSelect().Table("files").Column("id").Where("rendering_id = ? AND rendering_id <> 0 AND state = ?", id, Finalized)
	err = image.UnionAll(rendering).Scan(ctx, &fileID)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, missing("image", id)
	}
	return fileID, err
}

// nameRenderings gives the models among files the ids of their renderings.
func (s *Store) nameRenderings(ctx context.Context, tx bun.Tx, files []*File) error {
	models := slices.DeleteFunc(slices.Clone(files), func(f *File) bool { return f.Kind != Model })
	ids, err := s.db.newFileIDs(ctx, tx, len(models))
	for i, id := range ids {
		models[i].RenderingID = id
	}
	return err
}

// newFileIDs takes ids from the sequence of the ids of files.
func (db *DB) newFileIDs(ctx context.Context, tx bun.Tx, n int) (ids []int64, err error) {
	if n == 0 {
		return nil, nil
	}
	if db.Engine == Postgres {
		err = tx.NewRaw("SELECT nextval(pg_get_serial_sequence('files', 'id')) FROM generate_series(1, ?)", n).Scan(ctx, &ids)
		return ids, err
	}
	var last int64
	if err := tx.NewRaw("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'files' RETURNING seq", n).Scan(ctx, &last); err != nil {
		return nil, fmt.Errorf("take %d file ids: %w", n, err)
	}
	for id := last - int64(n) + 1; id <= last; id++ {
		ids = append(ids, id)
	}
	return ids, nil
}
