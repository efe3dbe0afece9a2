package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"time"
)

// Tables are the tables of a catalogue in memory: about 5 MB for 2,000 things with 10,000 files and
// 27,000 titles. They are safe for concurrent use.
type Tables struct {
	// Skipped lists what was left out and why: things that have files or tags but no row.
	Skipped []string
	// Titles are additional titles from titles_sketchfab.csv. Only resampling uses them.
	Titles []string

	things []Thing // by ID
}

// tableDate is the date format of things.csv. Dates have no time zone; UTC is assumed.
const tableDate = "2006-01-02T15:04:05"

// Open reads things.csv, files.csv, tags.csv and licences.csv in a folder and, if they exist,
// titles_sketchfab.csv (additional titles for resampling) and popularity_anchors.csv (observed
// counts of things). Columns may be in any order, and other columns are ignored. An error names the
// file, the line and the column.
func Open(dir string) (*Tables, error) {
	l := &tableLoader{licenses: make(map[string]string), things: make(map[int64]*Thing), files: make(map[int64]bool),
		orphans: make(map[int64]*orphan)}
	for _, table := range []struct {
		name    string
		columns []string
		row     func([]string) error
		extra   bool // may be missing
	}{
		{"licences.csv", []string{"code", "label", "label_in_things_csv"}, l.license, false},
		{"things.csv", []string{"thing_id", "date", "category", "subcategory", "name", "author", "licence"}, l.thing, false},
		{"files.csv", []string{"file_id", "thing_id", "file_name", "num_faces"}, l.file, false},
		{"tags.csv", []string{"thing_id", "tag"}, l.tag, false},
		{"titles_sketchfab.csv", []string{"title"}, l.title, true},
		{"popularity_anchors.csv", append([]string{"kind", "id"}, anchorColumns...), l.anchor, true},
	} {
		err := readTable(dir, table.name, table.columns, table.row)
		if err != nil && !(table.extra && errors.Is(err, fs.ErrNotExist)) {
			return nil, fmt.Errorf("catalogue: %w", err)
		}
	}
	t := &Tables{Titles: l.titles}
	for _, id := range slices.Sorted(maps.Keys(l.things)) {
		th := l.things[id]
		th.Tags = DistinctTags(th.Tags)
		slices.SortStableFunc(th.Files, func(a, b File) int { return cmp.Compare(a.ID, b.ID) })
		t.things = append(t.things, *th)
	}
	for _, id := range slices.Sorted(maps.Keys(l.orphans)) {
		t.Skipped = append(t.Skipped, fmt.Sprintf("thing %d: no row in things.csv, %d files and %d tags left out", id,
			l.orphans[id].files, l.orphans[id].tags))
	}
	return t, nil
}

// Len returns the number of things.
func (t *Tables) Len() int { return len(t.things) }

// Things iterates over the things by ascending ID, with their tags and files.
func (t *Tables) Things() iter.Seq[Thing] { return t.ThingsFrom(0) }

// ThingsFrom is Things starting at index first, counted from 0.
func (t *Tables) ThingsFrom(first int) iter.Seq[Thing] {
	return func(yield func(Thing) bool) {
		for i := max(first, 0); i < len(t.things); i++ {
			th := t.things[i]
			// The caller may modify the thing, which must not affect the tables.
			th.Tags, th.Files = slices.Clone(th.Tags), slices.Clone(th.Files)
			if !yield(th) {
				return
			}
		}
	}
}

// tableLoader collects the rows of the tables.
type tableLoader struct {
	licenses map[string]string // codes by label
	things   map[int64]*Thing
	files    map[int64]bool
	orphans  map[int64]*orphan
	titles   []string
}

// orphan counts the rows that refer to a missing thing.
type orphan struct{ files, tags int }

func (l *tableLoader) license(row []string) error {
	if row[0] == "" {
		return errors.New("column code: must not be empty")
	}
	for _, label := range row[1:] {
		if label != "" {
			l.licenses[label] = row[0]
		}
	}
	return nil
}

func (l *tableLoader) thing(row []string) error {
	id, err := number("thing_id", row[0])
	if err != nil {
		return err
	}
	if id == 0 || l.things[id] != nil {
		return fmt.Errorf("column thing_id: must be unique and not 0 (got %d)", id)
	}
	date, err := time.Parse(tableDate, row[1])
	if err != nil {
		return fmt.Errorf("column date: must be a date such as %[2]s (got %[1]q)", row[1], tableDate)
	}
	// Names in the tables contain HTML entities.
	name := html.UnescapeString(row[4])
	if name == "" {
		return errors.New("column name: must not be empty")
	}
	l.things[id] = &Thing{ID: id, Date: date, Category: row[2], Subcategory: row[3], Name: name, Author: row[5],
		License: cmp.Or(l.licenses[row[6]], row[6])}
	return nil
}

func (l *tableLoader) file(row []string) error {
	id, err := number("file_id", row[0])
	if err != nil {
		return err
	}
	if id == 0 || l.files[id] {
		return fmt.Errorf("column file_id: must be unique and not 0 (got %d)", id)
	}
	l.files[id] = true
	thing, err := number("thing_id", row[1])
	if err != nil {
		return err
	}
	if row[2] == "" {
		return errors.New("column file_name: must not be empty")
	}
	triangles, err := numberOrNone("num_faces", row[3])
	if err != nil {
		return err
	}
	if most := int64(1) << 40; triangles > most {
		return fmt.Errorf("column num_faces: must be at most %[2]d (got %[1]d)", triangles, most)
	}
	if th := l.things[thing]; th != nil {
		th.Files = append(th.Files, File{ID: id, Name: row[2], Size: STLSize(triangles)})
	} else {
		l.orphan(thing).files++
	}
	return nil
}

func (l *tableLoader) tag(row []string) error {
	thing, err := number("thing_id", row[0])
	if err != nil {
		return err
	}
	if th := l.things[thing]; th != nil {
		th.Tags = append(th.Tags, html.UnescapeString(row[1]))
	} else {
		l.orphan(thing).tags++
	}
	return nil
}

func (l *tableLoader) orphan(thing int64) *orphan {
	if l.orphans[thing] == nil {
		l.orphans[thing] = new(orphan)
	}
	return l.orphans[thing]
}

func (l *tableLoader) title(row []string) error {
	l.titles = append(l.titles, row[0])
	return nil
}

var anchorColumns = []string{"downloads", "likes", "collects", "makes", "comments", "views"}

// anchor reads the counts of a thing. It ignores rows of files and of unknown things.
func (l *tableLoader) anchor(row []string) error {
	id, err := number("id", row[1])
	if err != nil || row[0] != "thing" || l.things[id] == nil {
		return err
	}
	c := &l.things[id].Counts
	for i, count := range []*int64{&c.Downloads, &c.Likes, &c.Collects, &c.Makes, &c.Comments, &c.Views} {
		if *count, err = numberOrNone(anchorColumns[i], row[2+i]); err != nil {
			return err
		}
	}
	return nil
}
