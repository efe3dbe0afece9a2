package catalogue

import (
	"encoding/csv"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tables are the tables of a catalogue: things.csv, files.csv, tags.csv and licences.csv, and, where they are there, titles_sketchfab.csv and
// popularity_anchors.csv. Each has a header line.
type Tables struct {
	things  []Thing
	titles  []string // more names, for resampling
	Skipped []string // what was left out, and why
}

// Open reads the tables of a folder. An error names the file, the line and the column.
func Open(dir string) (*Tables, error) {
	t := new(Tables)
	licenses := make(map[string]string)
	if err := read(dir, "licences.csv", "code label label_in_things_csv", func(row []string) error {
		licenses[row[1]], licenses[row[2]] = row[0], row[0]
		return nil
	}); err != nil {
		return nil, err
	}
	byID := make(map[int64]*Thing)
	if err := read(dir, "things.csv", "thing_id date category subcategory name author licence", func(row []string) error {
		id, err := number("thing_id", row[0])
		if err != nil {
			return err
		}
		date, err := time.Parse("2006-01-02T15:04:05", row[1])
		switch {
		case err != nil:
			return fmt.Errorf("date: %q is not as 2006-01-02T15:04:05", row[1])
		case row[4] == "":
			return errors.New("name: is empty")
		case byID[id] != nil:
			return fmt.Errorf("thing_id: %d is there twice", id)
		}
		category := row[3]
		if category == "" {
			category = row[2]
		}
		byID[id] = &Thing{ID: id, Name: html.UnescapeString(row[4]), Author: row[5], License: licenses[row[6]], Category: category, Date: date}
		return nil
	}); err != nil {
		return nil, err
	}
	orphans := make(map[int64]bool)
	of := func(id int64, file string) *Thing {
		if byID[id] == nil && !orphans[id] {
			orphans[id] = true
			t.Skipped = append(t.Skipped, fmt.Sprintf("%s: thing %d is not in things.csv", file, id))
		}
		return byID[id]
	}
	if err := read(dir, "files.csv", "file_id thing_id file_name num_faces", func(row []string) error {
		id, err := number("file_id", row[0])
		if err != nil {
			return err
		}
		thing, err := number("thing_id", row[1])
		if err != nil {
			return err
		}
		triangles := int64(0)
		if row[3] != "" {
			if triangles, err = number("num_faces", row[3]); err != nil {
				return err
			}
		}
		if th := of(thing, "files.csv"); th != nil {
			th.Files = append(th.Files, File{ID: id, Name: row[2], Size: meshSize(triangles)})
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if err := read(dir, "tags.csv", "thing_id tag", func(row []string) error {
		thing, err := number("thing_id", row[0])
		if th := of(thing, "tags.csv"); err == nil && th != nil {
			th.Tags = append(th.Tags, html.UnescapeString(row[1]))
		}
		return err
	}); err != nil {
		return nil, err
	}
	if err := optional(read(dir, "popularity_anchors.csv", "kind id likes collects downloads makes comments", func(row []string) error {
		id, err := number("id", row[1])
		if err != nil || row[0] != "thing" || byID[id] == nil {
			return err
		}
		c := &byID[id].Counts
		for i, count := range []*int64{&c.Likes, &c.Collects, &c.Downloads, &c.Makes, &c.Comments} {
			if row[2+i] != "" {
				if *count, err = number([]string{"likes", "collects", "downloads", "makes", "comments"}[i], row[2+i]); err != nil {
					return err
				}
			}
		}
		return nil
	})); err != nil {
		return nil, err
	}
	if err := optional(read(dir, "titles_sketchfab.csv", "title", func(row []string) error {
		t.titles = append(t.titles, row[0])
		return nil
	})); err != nil {
		return nil, err
	}
	for _, th := range byID {
		t.things = append(t.things, *th)
	}
	slices.SortFunc(t.things, func(a, b Thing) int { return int(a.ID - b.ID) })
	return t, nil
}

// Len is how many things there are.
func (t *Tables) Len() int { return len(t.things) }

// Things gives the things by id, from the one at the index first on.
func (t *Tables) Things(first int) iter.Seq[Thing] {
	return slices.Values(t.things[min(first, len(t.things)):])
}

// optional forgets that a table is not there.
func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// read gives the named columns of each row of a table, separated by blanks, to a function.
func read(dir, name, columns string, row func([]string) error) error {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("%s: the header line: %w", name, err)
	}
	var at []int
	for column := range strings.FieldsSeq(columns) {
		i := slices.Index(header, column)
		if i < 0 {
			return fmt.Errorf("%s: no column %s", name, column)
		}
		at = append(at, i)
	}
	wanted := make([]string, len(at))
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			for i, column := range at {
				wanted[i] = record[column]
			}
			err = row(wanted)
		}
		if err != nil {
			line, _ := r.FieldPos(0)
			return fmt.Errorf("%s: line %d: %w", name, line, err)
		}
	}
}

func number(column, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s: %q is not a number", column, text)
	}
	return n, nil
}
