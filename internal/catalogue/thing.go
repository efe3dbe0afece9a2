// Package catalogue reads things from tables, and makes more of them with the same spread, for an import to load. It knows no database.
package catalogue

import "time"

// Thing is a thing as an import brings it.
type Thing struct {
	ID          int64
	Name        string
	Author      string // a public user name; empty where nobody knows
	License     string // a code such as cc-sa; empty where nobody knows
	Category    string // slug of the shelf, the lowest that is known; may be empty
	Description string
	Date        time.Time // of publication, UTC
	Tags        []string
	Files       []File
	Counts      Counts
}

// File is what is known of a file without its bytes.
type File struct {
	ID   int64
	Name string
	Size int64 // bytes; of a mesh of which only the triangles were counted, what they take as binary STL
}

// Counts are what people did with a thing before it was imported.
type Counts struct{ Downloads, Likes, Collects, Makes, Comments int64 }

// meshSize is the size of a mesh as binary STL.
func meshSize(triangles int64) int64 { return 84 + 50*triangles }
