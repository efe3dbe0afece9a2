package files

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// ReorderFiles moves the given finalized files to the front of the files of a target of the caller,
// in the given order, and returns all files of the target. It returns BadInput if one of them is
// not on the target. It opens a transaction.
func (s *Store) ReorderFiles(ctx context.Context, caller auth.Caller, on models.Target,
	ids []int64) ([]*models.File, error) {
	return s.reorder(ctx, caller, on, ids, reorderableFiles)
}

// ReorderImages is ReorderFiles for the images of a target: image files and renderings. It returns
// all images of the target.
func (s *Store) ReorderImages(ctx context.Context, caller auth.Caller, on models.Target,
	ids []int64) ([]*models.File, error) {
	return s.reorder(ctx, caller, on, ids, reorderableImages)
}

// reorderable is a list of files of a target that users can reorder.
type reorderable struct {
	field string // the input with the IDs
	// list returns the files of the target that are in the list, in its order.
	list  func([]*models.File) []*models.File
	id    func(*models.File) int64 // returns the ID of a file in the list
	store func(context.Context, bun.Tx, []*models.File) error
}

var reorderableFiles = reorderable{
	field: "fileIds",
	list:  func(files []*models.File) []*models.File { return files },
	id:    func(f *models.File) int64 { return f.ID },
	store: func(ctx context.Context, tx bun.Tx, files []*models.File) error {
		return setRanks(ctx, tx, "rank", files, func(*models.File) bool { return true })
	},
}

var reorderableImages = reorderable{
	field: "imageIds",
	list: func(files []*models.File) []*models.File {
		files = slices.DeleteFunc(files, func(f *models.File) bool { return f.ImageID() == 0 })
		slices.SortFunc(files, models.CompareImages)
		return files
	},
	id: (*models.File).ImageID,
	store: func(ctx context.Context, tx bun.Tx, images []*models.File) error {
		isImage := func(f *models.File) bool { return f.Kind == models.Image }
		if err := setRanks(ctx, tx, "rank", images, isImage); err != nil {
			return err
		}
		return setRanks(ctx, tx, "rendering_rank", images, func(f *models.File) bool { return !isImage(f) })
	},
}

// setRanks sets a column of the files for which chosen returns true to their index in files.
func setRanks(ctx context.Context, tx bun.Tx, column string, files []*models.File,
	chosen func(*models.File) bool) error {
	rank := make(map[int64]int64)
	for i, f := range files {
		if chosen(f) {
			rank[f.ID] = int64(i)
		}
	}
	return database.SetEach(ctx, tx, "files", "id", column+" = v.n", fmt.Sprintf("x.state = '%s'", models.Finalized), rank)
}

// reorder moves the files with the given IDs to the front of a list of a target of the caller, and
// returns the first MaxFiles of it.
func (s *Store) reorder(ctx context.Context, caller auth.Caller, on models.Target, ids []int64,
	r reorderable) ([]*models.File, error) {
	if len(ids) == 0 {
		return nil, models.Required(r.field)
	}
	if len(ids) > models.MaxFiles {
		return nil, models.TooMany(r.field, len(ids), models.MaxFiles)
	}
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if models.IsUserImage(on.Type) {
			return models.Invalid("target", "target: must be a thing, a make or a comment")
		}
		if _, err := s.core.LockOwned(ctx, tx, caller, on); err != nil {
			return err
		}
		var files []*models.File
		err := s.core.DB.ForUpdate(tx.NewSelect().Model(&files).Where("f.target_type = ? AND f.target_id = ? AND f.state = ?",
			on.Type, on.ID, models.Finalized).
			Order("f.rank", "f.id")).Scan(ctx)
		if err != nil {
			return err
		}
		ordered, err := r.moveToFront(r.list(files), on, ids)
		if err != nil {
			return err
		}
		if err := r.store(ctx, tx, ordered); err != nil {
			return err
		}
		return models.Touch(ctx, tx, on)
	})
	if err != nil {
		return nil, err
	}
	files, err := s.core.FilesOn(ctx, models.AllFileFields, on.Type, []int64{on.ID})
	all := r.list(files[on.ID])
	return all[:min(len(all), models.MaxFiles)], err
}

// moveToFront returns the files with those of the given IDs first, in the order of the IDs.
func (r reorderable) moveToFront(files []*models.File, on models.Target, ids []int64) ([]*models.File, error) {
	ordered := make([]*models.File, 0, len(files))
	moved := make(map[int64]bool, len(ids))
	for _, id := range ids {
		at := slices.IndexFunc(files, func(f *models.File) bool { return r.id(f) == id })
		if at < 0 {
			return nil, models.Invalid(r.field, "%s: %d is not on %s %d", r.field, id, on.Type, on.ID)
		}
		if moved[id] {
			return nil, models.GivenTwice(r.field, id)
		}
		moved[id] = true
		ordered = append(ordered, files[at])
	}
	for _, f := range files {
		if !moved[r.id(f)] {
			ordered = append(ordered, f)
		}
	}
	return ordered, nil
}
