package library

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/models"
)

// merge is a thing that a scan found, with what it changes in the database.
type merge struct {
	place  *placeFound
	found  layout.Thing
	source string // escaped
	keys   []string
	files  []layout.File // with these keys

	known    bool   // the database has a row for the source
	deleted  bool   // someone deleted the thing
	thing    int64  // 0: it is new
	from     string // the source before it moved
	owner    int64
	prepared *models.PreparedThing // of a new thing
	publish  bool                  // the new thing

	added   []*models.File
	updated []*models.File // with other columns
	changed int64          // updated files with other bytes
	moved   int64          // updated files that were at another path
	gone    []int64        // files that are no longer there
	// unmarked is the number of updated files that this scan had marked as missing before.
	unmarked int64
}

// newMerge returns a thing to store, or nil if it cannot be stored. It skips files that cannot.
func (sc *scan) newMerge(p *placeFound, t layout.Thing) *merge {
	m := &merge{place: p, found: t, source: bucket.EscapePath(t.Source)}
	if len(m.source) > maxKey {
		p.skip(t.Source, "its path is too long")
		return nil
	}
	most := sc.core.MaxFilesOf(models.OnThing)
	for _, f := range ordered(t.Files) {
		key := bucket.LibraryFile{Library: sc.folder.Name, Path: f.Source, Size: f.Size, ModTime: f.ModTime}.Key()
		switch {
		case len(key) > maxKey:
			p.skip(f.Source, "its path is too long")
		case len(m.files) == most:
			p.skip(f.Source, fmt.Sprintf("a thing has at most %d files", most))
		default:
			m.files, m.keys = append(m.files, f), append(m.keys, key)
		}
	}
	return m
}

// compare finds out what of the files in the database differs from the files that were found.
func (sc *scan) compare(ctx context.Context, merges []*merge) error {
	byThing := map[int64][]*models.File{}
	byKey := map[string]*models.File{}
	var things []int64
	var keys []string
	for _, m := range merges {
		keys = append(keys, m.keys...)
		if m.thing != 0 {
			things = append(things, m.thing)
		}
	}
	for some := range slices.Chunk(things, atOnce) {
		rows, err := sc.filesOf(ctx, some)
		if err != nil {
			return err
		}
		for _, f := range rows {
			byThing[f.TargetID] = append(byThing[f.TargetID], f)
			byKey[f.ObjectKey] = f
		}
	}
	keys = slices.DeleteFunc(keys, func(k string) bool { return byKey[k] != nil })
	for some := range slices.Chunk(keys, atOnce) { // those of other things
		var rows []*models.File
		err := sc.core.DB.Write.NewSelect().Model(&rows).Column(fileColumns...).
			Where("object_key IN (?)", bun.List(some)).Scan(ctx)
		if err != nil {
			return err
		}
		for _, f := range rows {
			byKey[f.ObjectKey] = f
		}
	}
	sc.sums = map[string]string{}
	taken := map[int64]bool{}
	for _, m := range merges {
		m.compare(sc, byThing[m.thing], byKey)
		for _, f := range m.updated {
			taken[f.ID] = true
		}
	}
	for _, m := range merges { // files that another thing of the batch has now are not gone
		m.gone = slices.DeleteFunc(m.gone, func(id int64) bool { return taken[id] })
		for _, id := range m.gone {
			sc.moved.lost.marked[id] = true
		}
	}
	return nil
}

// compare compares the files of a thing with its rows, and with those of other things that have
// some of its keys.
func (m *merge) compare(sc *scan, rows []*models.File, byKey map[string]*models.File) {
	left := map[int64]*models.File{}
	byPath, byPrint := map[string]*models.File{}, map[uint64]*models.File{}
	last, owner := int32(-1), sc.owner.UserID
	for _, f := range rows {
		left[f.ID], owner = f, f.OwnerID
		last = max(last, f.Rank)
	}
	for _, key := range m.keys {
		if f := byKey[key]; f != nil {
			delete(left, f.ID)
		}
	}
	for _, f := range left {
		if was, ok := bucket.ParseLibraryKey(f.ObjectKey); ok {
			byPath[was.Path] = f
			byPrint[sc.moved.print(path.Base(was.Path), was.Size, was.ModTime)] = f
		}
	}
	for i, found := range m.files {
		key := m.keys[i]
		row := byKey[key]
		if row == nil && left[idOf(byPath[found.Source])] != nil {
			row = byPath[found.Source]
		}
		if row == nil {
			if f := byPrint[sc.moved.print(path.Base(found.Source), found.Size, found.ModTime)]; left[idOf(f)] != nil {
				row = f
			}
		}
		same := false
		if row == nil {
			row = sc.sameBytes(found, func(f *models.File) bool {
				_, isOfVanished := sc.moved.things[f.TargetID] // its files go where the thing is found
				return left[f.ID] != nil || !isOfVanished && f.OwnerID == owner
			})
			if same = row != nil; same && sc.moved.lost.marked[row.ID] {
				m.unmarked++
			}
		}
		if row == nil {
			last++
			m.added = append(m.added, sc.newFile(found, key, last))
			continue
		}
		delete(left, row.ID)
		sc.moved.lost.remove(row)
		m.update(row, found, key, same)
	}
	for id, f := range left {
		if f.MissingSince == nil && !sc.tree.isUncertain(pathOf(f)) {
			m.gone = append(m.gone, id)
		}
	}
	slices.Sort(m.gone)
}

func idOf(f *models.File) int64 {
	if f == nil {
		return 0
	}
	return f.ID
}

// pathOf returns the path of a file in its library.
func pathOf(f *models.File) string {
	was, _ := bucket.ParseLibraryKey(f.ObjectKey)
	return was.Path
}

// update records what of a row differs from the file that was found. same says that the bytes were
// compared, and are the same.
func (m *merge) update(row *models.File, found layout.File, key string, same bool) {
	name, folder := path.Base(found.Path), folderOf(found.Path)
	if row.ObjectKey == key && row.TargetID == m.thing && row.Name == name && row.Folder == folder &&
		row.MissingSince == nil {
		return
	}
	if was, ok := bucket.ParseLibraryKey(row.ObjectKey); ok && row.ObjectKey != key {
		if !same && (was.Size != found.Size || was.ModTime != found.ModTime) {
			row.SHA256, row.MD5 = "", "" // until it is read
			m.changed++
		} else {
			m.moved++
		}
	}
	row.ObjectKey, row.Name, row.Folder, row.Size, row.MissingSince = key, name, folder, found.Size, nil
	m.updated = append(m.updated, row)
}

// storeThing stores a thing and the changes of its files, except those that are new.
func (sc *scan) storeThing(ctx context.Context, tx bun.Tx, m *merge, counts *Counts) error {
	row := &libraryThing{LibraryID: sc.library.ID, Source: m.source, PlacePath: m.place.path, PlaceKind: m.place.kind}
	m.owner = sc.owner.UserID
	if m.prepared != nil {
		err := sc.core.InsertThing(ctx, tx, sc.owner, m.prepared, func(t *models.Thing) error {
			m.thing = t.ID
			if m.publish {
				return sc.insertFiles(ctx, tx, []*merge{m})
			}
			return nil
		})
		if err != nil {
			return err
		}
		counts.ThingsAdded++
	}
	switch row.ThingID = &m.thing; {
	case m.from != "":
		if _, err := tx.NewDelete().Model(row).Where("library_id = ? AND source = ?", sc.library.ID, m.from).
			Exec(ctx); err != nil {
			return err
		}
		fallthrough
	case !m.known:
		if _, err := tx.NewInsert().Model(row).Exec(ctx); err != nil {
			return err
		}
	default:
		_, err := tx.NewUpdate().Model(row).Column("place_path", "place_kind").Where("library_id = ? AND source = ?",
			sc.library.ID, m.source).Exec(ctx)
		if err != nil {
			return err
		}
	}
	for _, f := range m.updated {
		f.TargetID, f.ThingID = m.thing, m.thing
		q := tx.NewUpdate().Model(f).Column("object_key", "name", "folder", "size", "missing_since", "target_id", "thing_id")
		if f.SHA256 == "" {
			q = q.Column("sha256", "md5")
		}
		if _, err := q.Where("id = ?", f.ID).Exec(ctx); err != nil {
			return err
		}
	}
	if len(m.gone) > 0 {
		_, err := tx.NewUpdate().Model((*models.File)(nil)).Set("missing_since = ?", models.Now()).
			Where("id IN (?)", bun.List(m.gone)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	if m.prepared == nil && len(m.added)+int(m.changed)+len(m.gone) > 0 {
		if _, err := tx.NewUpdate().Model((*models.Thing)(nil)).Set("modified_at = ?", models.Now()).Where("id = ?", m.thing).
			Exec(ctx); err != nil {
			return err
		}
	}
	counts.FilesAdded += int64(len(m.added))
	counts.FilesChanged += m.changed
	counts.FilesMoved += m.moved
	counts.FilesMissing += int64(len(m.gone)) - m.unmarked
	return nil
}
