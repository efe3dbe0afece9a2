// Package dataset reads the tables of a catalogue and the files of operators, and gives things one after another to
// whatever loads them: as they are, or resampled to a catalogue of any size. It knows no database.
package dataset

import "time"

// Thing is a thing as an import brings it.
type Thing struct {
	ID          int64     // 0: the loader gives one
	Name        string    // as readers see it, no HTML
	Author      string    // public user name; empty where the tables do not know it
	License     string    // code of licences.csv, such as cc-sa; empty where the catalogue names none that is known
	Category    string    // name; may be empty
	Subcategory string    // name; may be empty, and is where Category is
	Description string    // may be empty
	Date        time.Time // of publication, UTC
	Tags        []string  // in their order; none repeats another, small letters like capitals and '_' like a space
	Files       []File    // by id
	Counts      Counts
}

// File is what is known of a file without its bytes.
type File struct {
	ID   int64
	Name string
	Size int64 // bytes; where only triangles were counted, what they take as binary STL, and 84 where not even those were
}

// Counts are what people did with a thing before it is imported.
type Counts struct{ Downloads, Likes, Collects, Makes, Comments, Views int64 }

// STLSize is the size in bytes of so many triangles as binary STL: a header of 84 bytes and 50 for each.
func STLSize(triangles int64) int64 { return 84 + 50*triangles }
