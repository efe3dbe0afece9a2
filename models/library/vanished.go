package library

import (
	"context"
	"hash/maphash"
	"path"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/models"
)

// atOnce is the number of rows that one statement looks up.
const atOnce = 500

// vanished are the things whose folders or files are no longer where they were. A thing that is
// found elsewhere with the same files has moved.
type vanished struct {
	seed   maphash.Seed
	things map[int64]string // the sources, by thing; "" once a thing was found elsewhere
	byFile map[uint64]int64 // things by name, size and modification time of their files
	lost   lost
}

// print returns what identifies a file wherever it is.
func (v *vanished) print(name string, size, modTime int64) uint64 {
	return maphash.Comparable(v.seed, struct {
		name          string
		size, modTime int64
	}{name, size, modTime})
}

// findVanished finds the things of places that changed or are gone whose source does not exist any
// more.
func (sc *scan) findVanished(ctx context.Context, changed map[key]bool, gone []key) (*vanished, error) {
	v := &vanished{seed: maphash.MakeSeed(), things: map[int64]string{}, byFile: map[uint64]int64{}, lost: newLost()}
	isGone := map[key]bool{}
	for _, k := range gone {
		isGone[k] = true
	}
	var rows []libraryThing
	if err := sc.core.DB.Write.NewSelect().Model(&rows).Where("library_id = ? AND thing_id IS NOT NULL", sc.library.ID).
		Scan(ctx, &rows); err != nil {
		return nil, err
	}
	missing, err := sc.missing(ctx, len(changed) > 0)
	if err != nil {
		return nil, err
	}
	var stay []int64 // things of which files may be gone
	for _, t := range rows {
		k := key{t.PlacePath, t.PlaceKind}
		switch affected := isGone[k] || changed[k]; {
		case (affected || missing[*t.ThingID] != nil) && !sc.exists(t.Source):
			v.things[*t.ThingID] = t.Source
		case affected:
			stay = append(stay, *t.ThingID)
		default:
			v.lost.add(missing[*t.ThingID]...)
		}
	}
	for some := range slices.Chunk(stay, atOnce) {
		files, err := sc.filesOf(ctx, some)
		if err != nil {
			return nil, err
		}
		v.lost.add(slices.DeleteFunc(files, func(f *models.File) bool { return sc.exists(bucket.EscapePath(pathOf(f))) })...)
	}
	ids := make([]int64, 0, len(v.things))
	for id := range v.things {
		ids = append(ids, id)
	}
	for some := range slices.Chunk(ids, atOnce) {
		files, err := sc.filesOf(ctx, some)
		if err != nil {
			return nil, err
		}
		v.lost.add(files...)
		for _, f := range files {
			if was, ok := bucket.ParseLibraryKey(f.ObjectKey); ok {
				v.byFile[v.print(path.Base(was.Path), was.Size, was.ModTime)] = f.TargetID
			}
		}
	}
	return v, nil
}

// exists reports whether the source of a thing is still there, or may be.
func (sc *scan) exists(escaped string) bool {
	p, err := bucket.UnescapePath(escaped)
	if err != nil || sc.tree.isUncertain(p) {
		return true
	}
	if sc.tree.folders[p] != nil {
		return true
	}
	_, err = sc.root.Lstat(p)
	return err == nil
}

// fileColumns are the columns of files that a scan compares.
var fileColumns = []string{"id", "owner_id", "name", "folder", "kind", "state", "size", "sha256", "object_key",
	"target_id", "rank", "missing_since"}

// filesOf returns the files of things that are in this library.
func (sc *scan) filesOf(ctx context.Context, things []int64) (files []*models.File, err error) {
	if len(things) == 0 {
		return nil, nil
	}
	err = sc.core.DB.Write.NewSelect().Model(&files).
		Column(fileColumns...).
		Where("target_type = ? AND target_id IN (?) AND object_key LIKE ?", models.OnThing, bun.List(things),
			sc.prefix()+"%").
		Order("id").Scan(ctx)
	return files, err
}

// prefix returns the beginning of the keys of the files of the library. Names of libraries have no
// wildcards of LIKE.
func (sc *scan) prefix() string { return bucket.LibraryPrefix + sc.folder.Name + "/" }

// origin returns the vanished thing that a thing was before it moved, with its source: the one with
// most of its files, if these are at least half of its files.
//
// Files are the same if they have the same name, size and modification time. If that finds nothing,
// the contents of those are compared that have the size of a file of a vanished thing.
func (sc *scan) origin(t layout.Thing) (id int64, source string) {
	v := sc.moved
	if len(v.byFile) == 0 {
		return 0, ""
	}
	id, source = v.most(t, func(f layout.File) int64 { return v.byFile[v.print(path.Base(f.Source), f.Size, f.ModTime)] })
	if id != 0 {
		return id, source
	}
	return v.most(t, func(f layout.File) int64 {
		if row := sc.sameBytes(f, func(row *models.File) bool { return v.things[row.TargetID] != "" }); row != nil {
			return row.TargetID
		}
		return 0
	})
}

// most returns the vanished thing to which most files of a thing belonged, if these are at least
// half of its files.
func (v *vanished) most(t layout.Thing, of func(layout.File) int64) (id int64, source string) {
	shared := map[int64]int{}
	for _, f := range t.Files {
		if thing := of(f); v.things[thing] != "" {
			shared[thing]++
			if shared[thing] > shared[id] {
				id = thing
			}
		}
	}
	if id == 0 || 2*shared[id] < len(t.Files) {
		return 0, ""
	}
	return id, v.things[id]
}

// endVanished marks the files of things that were not found elsewhere as missing, and removes the
// places that are gone.
func (sc *scan) endVanished(ctx context.Context, gone []key) error {
	var ids []int64
	for id, source := range sc.moved.things {
		if source != "" {
			ids = append(ids, id)
		}
	}
	for some := range slices.Chunk(ids, atOnce) {
		err := sc.inTx(ctx, func(ctx context.Context, tx bun.Tx, counts *Counts) error {
			n, err := sc.markMissing(ctx, tx, some)
			counts.FilesMissing += n
			return err
		})
		if err != nil {
			return err
		}
	}
	for some := range slices.Chunk(gone, atOnce) {
		err := sc.inTx(ctx, func(ctx context.Context, tx bun.Tx, _ *Counts) error {
			for _, k := range some {
				_, err := tx.NewDelete().Model((*place)(nil)).Where("library_id = ? AND path = ? AND kind = ?", sc.library.ID,
					k.path, k.kind).Exec(ctx)
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
