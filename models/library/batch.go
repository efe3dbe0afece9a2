package library

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/models"
)

// batch has the places that one transaction stores.
type batch struct {
	places []placeFound
	files  int
}

// placeFound is what a scan found at a place.
type placeFound struct {
	key
	print   int64
	things  []layout.Thing
	skipped []Skip
}

func (b *batch) add(k key, print int64, r layout.Result) {
	p := placeFound{key: k, print: print, things: r.Things}
	for _, s := range r.Skipped {
		p.skip(s.Source, s.Reason)
	}
	for _, t := range r.Things {
		b.files += len(t.Files)
	}
	b.places = append(b.places, p)
}

func (p *placeFound) skip(source, reason string) {
	p.skipped = append(p.skipped, Skip{bucket.EscapePath(source), reason})
}

// maxKey is the maximum length of the key of a file and of the path of a place in bytes. PostgreSQL
// cannot index much more.
const maxKey = 2_000

// write stores a batch.
func (sc *scan) write(ctx context.Context, b *batch) error {
	var merges []*merge
	for i := range b.places {
		p := &b.places[i]
		for _, t := range p.things {
			if m := sc.newMerge(p, t); m != nil {
				merges = append(merges, m)
			}
		}
	}
	if err := sc.findRows(ctx, merges); err != nil {
		return err
	}
	live := slices.DeleteFunc(merges, func(m *merge) bool { return m.deleted })
	if err := sc.compare(ctx, live); err != nil {
		return err
	}
	for _, m := range live {
		if m.thing == 0 {
			if err := sc.prepare(ctx, m); err != nil {
				return err
			}
		}
	}
	live = slices.DeleteFunc(live, func(m *merge) bool { return m.deleted })
	return sc.inTx(ctx, func(ctx context.Context, tx bun.Tx, counts *Counts) error {
		counts.FilesRead += int64(b.files)
		for _, m := range live {
			if err := sc.storeThing(ctx, tx, m, counts); err != nil {
				return fmt.Errorf("%s: %w", m.found.Source, err)
			}
		}
		drafts := slices.DeleteFunc(slices.Clone(live), func(m *merge) bool { return m.publish })
		if err := sc.insertFiles(ctx, tx, drafts); err != nil {
			return err
		}
		var known []int64 // the search index has the paths of the files of published things
		for _, m := range live {
			if m.prepared == nil && len(m.added)+len(m.updated) > 0 {
				known = append(known, m.thing)
			}
		}
		if err := sc.core.DB.Index(ctx, tx, models.ThingIndex, known...); err != nil {
			return err
		}
		if err := sc.markUnseen(ctx, tx, b, counts); err != nil {
			return err
		}
		return sc.storePlaces(ctx, tx, b)
	})
}

// findRows finds the things that the database has, or that moved.
func (sc *scan) findRows(ctx context.Context, merges []*merge) error {
	bySource := map[string]*merge{}
	sources := make([]string, 0, len(merges))
	for _, m := range merges {
		bySource[m.source] = m
		sources = append(sources, m.source)
	}
	for some := range slices.Chunk(sources, atOnce) {
		var rows []libraryThing
		err := sc.core.DB.Write.NewSelect().Model(&rows).Where("library_id = ? AND source IN (?)", sc.library.ID,
			bun.List(some)).Scan(ctx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			m := bySource[row.Source]
			if m.known, m.deleted = true, row.ThingID == nil; row.ThingID != nil {
				m.thing = *row.ThingID
			}
		}
	}
	for _, m := range merges {
		if !m.known {
			if m.thing, m.from = sc.origin(m.found); m.from != "" {
				sc.moved.things[m.thing] = ""
			}
		}
	}
	return nil
}

// markUnseen marks the files of things as missing that were at the places before and are no longer
// there, unless these moved.
func (sc *scan) markUnseen(ctx context.Context, tx bun.Tx, b *batch, counts *Counts) error {
	var unseen []int64
	for _, p := range b.places {
		if raw, err := bucket.UnescapePath(p.path); err == nil && sc.tree.isUncertain(raw) {
			continue
		}
		q := tx.NewSelect().Model((*libraryThing)(nil)).Column("thing_id").
			Where("library_id = ? AND place_path = ? AND place_kind = ? AND thing_id IS NOT NULL", sc.library.ID, p.path, p.kind)
		if len(p.things) > 0 {
			seen := make([]string, len(p.things))
			for i, t := range p.things {
				seen[i] = bucket.EscapePath(t.Source)
			}
			q = q.Where("source NOT IN (?)", bun.List(seen))
		}
		var ids []int64
		if err := q.Scan(ctx, &ids); err != nil {
			return err
		}
		for _, id := range ids {
			if sc.moved.things[id] == "" {
				unseen = append(unseen, id)
			}
		}
	}
	n, err := sc.markMissing(ctx, tx, unseen)
	counts.FilesMissing += n
	return err
}

// storePlaces stores the fingerprints of the places of a batch.
func (sc *scan) storePlaces(ctx context.Context, tx bun.Tx, b *batch) error {
	rows := make([]place, 0, len(b.places))
	for _, p := range b.places {
		if len(p.path) > maxKey {
			continue // it is read by each scan
		}
		skips, err := json.Marshal(slices.Concat([]Skip{}, p.skipped))
		if err != nil {
			return err
		}
		rows = append(rows, place{LibraryID: sc.library.ID, Path: p.path, Kind: p.kind, Fingerprint: p.print,
			Skipped: int64(len(p.skipped)), Skips: string(skips)})
	}
	if len(rows) == 0 {
		return nil
	}
	_, err := tx.NewInsert().Model(&rows).On("CONFLICT (library_id, path, kind) DO UPDATE").
		Set("fingerprint = EXCLUDED.fingerprint, skipped = EXCLUDED.skipped, skips = EXCLUDED.skips").Exec(ctx)
	return err
}

// insertFiles inserts the new files of a batch.
func (sc *scan) insertFiles(ctx context.Context, tx bun.Tx, merges []*merge) error {
	var files []*models.File
	at := models.Now()
	for _, m := range merges {
		for _, f := range m.added {
			f.ID, f.RenderingID = 0, 0 // an attempt that a deadlock ended may have set them
			f.OwnerID, f.TargetID, f.ThingID, f.CreatedAt, f.FinalizedAt = m.owner, m.thing, m.thing, at, &at
			files = append(files, f)
		}
	}
	if err := sc.core.AssignRenderingIDs(ctx, tx, files); err != nil {
		return err
	}
	for some := range slices.Chunk(files, atOnce) {
		if _, err := tx.NewInsert().Model(&some).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// newFile returns the row of a file that a scan found, without its thing.
func (sc *scan) newFile(f layout.File, key string, rank int32) *models.File {
	kind, contentType := models.ClassifyUnread(f.Path)
	return &models.File{
		Name: path.Base(f.Path), Folder: folderOf(f.Path), Kind: kind, State: models.Finalized, Size: f.Size,
		ContentType: contentType,
		ObjectKey:   key, TargetType: models.OnThing, Rank: rank, Note: f.Caption,
	}
}

// folderOf returns the folder of a path inside of a thing; "" is the top.
func folderOf(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}

// ordered returns the files of a thing with the cover first.
func ordered(files []layout.File) []layout.File {
	return slices.SortedStableFunc(slices.Values(files), func(a, b layout.File) int {
		rank := func(f layout.File) int {
			if f.Cover {
				return 0
			}
			return 1
		}
		return cmp.Compare(rank(a), rank(b))
	})
}
