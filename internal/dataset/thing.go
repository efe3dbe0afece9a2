// Package dataset reads the data that `meshyard import` loads: the tables of a catalogue, and CSV
// or JSON Lines files of an operator. It does not use the database. Package resample generates
// larger catalogues from the tables.
package dataset

import "time"

// Thing is a thing to import.
type Thing struct {
	ID          int64     // 0 if the loader assigns one
	Name        string    // plain text without HTML
	Author      string    // public user name; empty if unknown
	License     string    // a code such as cc-sa, an SPDX identifier or a name; empty if unknown
	Category    string    // name; may be empty
	Subcategory string    // name; may be empty; requires Category
	Description string    // may be empty
	Date        time.Time // date of publication, UTC
	Tags        []string  // in order, without duplicates by TagKey
	Files       []File    // by ID
	Counts      Counts
	Origin      Origin
}

// Origin says where a thing was copied from. Empty texts are unknown.
type Origin struct{ Creator, CreatorURL, URL, Site string }

// File describes a file without its content.
type File struct {
	ID   int64
	Name string
	// in bytes; if only the number of triangles is known, the size as binary STL; if nothing is
	// known, 84
	Size int64
}

// Counts are the counters of a thing at the time of the import.
type Counts struct{ Downloads, Likes, Collects, Makes, Comments, Views int64 }

// STLSize returns the size in bytes of a binary STL file: a header of 84 bytes and 50 for each
// triangle.
func STLSize(triangles int64) int64 { return 84 + 50*triangles }
