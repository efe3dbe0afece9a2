package models

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// ReorderCollection moves the given things to the front of a collection of the caller, in the given
// order. It returns BadInput if one of them is not in the collection. It opens a transaction.
func (s *Store) ReorderCollection(ctx context.Context, caller auth.Caller, id int64, thingIDs []int64) (*Collection, error) {
	if err := checkThingIDs(thingIDs); err != nil {
		return nil, err
	}
	return s.changeCollection(ctx, caller, id, func(ctx context.Context, tx bun.Tx, c *Collection) error {
		var there []int64
		err := tx.NewSelect().Model((*collectionThing)(nil)).Column("ct.thing_id").
			Where("ct.collection_id = ? AND ct.thing_id IN (?)", c.ID, bun.List(thingIDs)).Scan(ctx, &there)
		if err != nil {
			return err
		}
		for _, thing := range thingIDs {
			if !slices.Contains(there, thing) {
				return badInput("thingIds", "thingIds: thing %d is not in the collection", thing)
			}
		}
		var highest int64
		err = tx.NewSelect().Model((*collectionThing)(nil)).ColumnExpr("max(ct.position)").Where("ct.collection_id = ?", c.ID).Scan(ctx, &highest)
		if err != nil {
			return err
		}
		position := make(map[int64]int64)
		for i, thing := range thingIDs {
			position[thing] = highest + int64(len(thingIDs)-i)
		}
		return setEach(ctx, tx, "collection_things", "thing_id", "position = v.n", fmt.Sprint("x.collection_id = ", c.ID), position)
	})
}

// ReorderFiles moves the given finalized files to the front of the files of a target of the caller,
// in the given order, and returns all files of the target. It returns BadInput if one of them is
// not on the target. It opens a transaction.
func (s *Store) ReorderFiles(ctx context.Context, caller auth.Caller, on Target, ids []int64) ([]*File, error) {
	err := s.reorder(ctx, caller, on, "fileIds", ids, func(files []*File) []*File { return files }, func(f *File) int64 { return f.ID },
		func(ctx context.Context, tx bun.Tx, files []*File) error {
			return setRanks(ctx, tx, "rank", files, func(f *File) bool { return true })
		})
	if err != nil {
		return nil, err
	}
	files, err := s.FilesOn(ctx, on.Type, []int64{on.ID})
	return files[on.ID], err
}

// ReorderImages is ReorderFiles for the images of a target: image files and renderings. It returns
// all images of the target.
func (s *Store) ReorderImages(ctx context.Context, caller auth.Caller, on Target, ids []int64) ([]*File, error) {
	images := func(files []*File) []*File {
		files = slices.DeleteFunc(files, func(f *File) bool { return f.ImageID() == 0 })
		slices.SortFunc(files, CompareImages)
		return files
	}
	err := s.reorder(ctx, caller, on, "imageIds", ids, images, (*File).ImageID, func(ctx context.Context, tx bun.Tx, files []*File) error {
		isImage := func(f *File) bool { return f.Kind == Image }
		if err := setRanks(ctx, tx, "rank", files, isImage); err != nil {
			return err
		}
		return setRanks(ctx, tx, "rendering_rank", files, func(f *File) bool { return !isImage(f) })
	})
	if err != nil {
		return nil, err
	}
	files, err := s.FilesOn(ctx, on.Type, []int64{on.ID})
	return images(files[on.ID]), err
}

// setRanks sets a column of the files for which chosen returns true to their index in files.
func setRanks(ctx context.Context, tx bun.Tx, column string, files []*File, chosen func(*File) bool) error {
	rank := make(map[int64]int64)
	for i, f := range files {
		if chosen(f) {
			rank[f.ID] = int64(i)
		}
	}
	return setEach(ctx, tx, "files", "id", column+" = v.n", fmt.Sprintf("x.state = '%s'", Finalized), rank)
}

// reorder locks a target of the caller, moves some of its files before the others, and calls store
// with all of them in their new order. among selects the files to reorder, and id returns the ID by
// which ids refers to a file.
func (s *Store) reorder(ctx context.Context, caller auth.Caller, on Target, field string, ids []int64, among func([]*File) []*File, id func(*File) int64,
	store func(context.Context, bun.Tx, []*File) error) error {
	if len(ids) == 0 {
		return required(field)
	}
	if len(ids) > MaxFiles {
		return tooMany(field, len(ids), MaxFiles)
	}
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if isUserImage(on.Type) {
			return badInput("target", "target: must be a thing, a make or a comment")
		}
		if _, err := s.lockOwned(ctx, tx, caller, on); err != nil {
			return err
		}
		var files []*File
		err := s.db.ForUpdate(tx.NewSelect().Model(&files).Where("f.target_type = ? AND f.target_id = ? AND f.state = ?", on.Type, on.ID, Finalized).
			Order("f.rank", "f.id")).Scan(ctx)
		if err != nil {
			return err
		}
		files = among(files)
		ordered := make([]*File, 0, len(files))
		seen := make(map[int64]bool, len(ids))
		for _, wanted := range ids {
			at := slices.IndexFunc(files, func(f *File) bool { return id(f) == wanted })
			if at < 0 || seen[wanted] {
				return badInput(field, "%s: %d is not on %s %d, or given twice", field, wanted, on.Type, on.ID)
			}
			seen[wanted] = true
			ordered = append(ordered, files[at])
		}
		for _, f := range files {
			if !seen[id(f)] {
				ordered = append(ordered, f)
			}
		}
		if err := store(ctx, tx, ordered); err != nil || on.Type != OnThing {
			return err
		}
		_, err = tx.NewUpdate().Model((*Thing)(nil)).Set("modified_at = ?", now()).Where("id = ?", on.ID).Exec(ctx)
		return err
	})
}
