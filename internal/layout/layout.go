// Package layout finds things in folders as people keep them on their disks: which folders are
// things, which are collections, and what each file is. It reads listings and small text files from
// a [Source], and knows neither the database nor the file system.
//
// docs/importing.md describes the rules. The layouts in testdata are their tests.
package layout

import (
	"context"
	"io/fs"

	"github.com/meshyard/meshyard/internal/license"
)

// Entry is a file or a folder of a source.
type Entry struct {
	Name string // in the encoding of the source
	Mode fs.FileMode
	Size int64
	// ModTime is when the file was last modified, in nanoseconds since 1970; 0: unknown.
	ModTime int64
	// Skip says why the file cannot be read. It is empty if it can.
	Skip string
}

// Source is what is searched for things. Paths are slash-separated names of its entries, without
// the name of the source itself, which is "".
type Source interface {
	// List returns the entries of a folder in any order. It returns those before an error.
	List(dir string) ([]Entry, error)
	// Text returns at most limit bytes of the beginning of a file.
	Text(file string, limit int) ([]byte, error)
}

// Loose says what becomes of models that lie directly in a folder of several things.
type Loose string

// The treatments of loose files.
const (
	// LooseAuto is LooseEach, except that the top folder of an import that contains models and no
	// other things is one thing.
	LooseAuto Loose = "auto"
	LooseEach Loose = "each" // each model is a thing, with the files of the same name
	LooseOne  Loose = "one"  // all loose files of a folder are a thing
)

// Options are the settings of a search.
type Options struct {
	Name     string // of the source, for a thing that is the source itself
	Library  bool   // the top folder is never a thing
	Archive  bool   // the source is an archive, which is usually one thing
	Loose    Loose  // "" is LooseAuto
	Template *Template
	// Unchanged reports whether the things at a place need not be read again. It may be nil.
	Unchanged func(Place) bool
}

// Kind is what a file is for its thing.
type Kind string

// The kinds of files.
const (
	Model      Kind = "model"
	Picture    Kind = "picture"
	Document   Kind = "document"
	Attachment Kind = "attachment"
)

// File is a file of a thing.
type File struct {
	Source  string // its path in the source
	Path    string // its path in the thing: valid UTF-8 in the form NFC
	Size    int64
	ModTime int64 // as in [Entry]
	Kind    Kind
	Variant string // such as "Supported, 32mm"; empty if the name says nothing
	Cover   bool   // the picture that shows the thing in lists
	Caption string // of a metadata file
}

// Use says how a file that is not a file of the thing was used.
type Use struct {
	Source string
	As     string // "description", "metadata" or "credit"
}

// Thing is a thing that was found.
type Thing struct {
	// Source identifies the thing: the path of its folder, or of its first loose file.
	Source       string
	Name         string
	Collection   []string // the names of the collections that contain it, from the outermost one
	Creator      string
	CreatorURL   string
	URL          string // of the page it was downloaded from
	Site         string // the name of the site of that page
	Links        []string
	Description  string // Markdown
	Instructions string
	Category     string
	Tags         []string
	Sensitive    bool
	License      LicenseHint
	Files        []File
	Used         []Use
	Notes        []string // about names and texts that could not be read
}

// LicenseHint is what the files of a thing say about its license.
type LicenseHint struct {
	Declared []string // names, SPDX identifiers and URLs in metadata, the most specific one first
	Text     string   // of the license file
	Readme   string
	// Above reports whether Text is that of a folder above the thing.
	Above bool
}

// ID returns the license that the hint means, which never permits more than what it says, or
// license.Unknown. What metadata declare has precedence over texts, except over a text of the thing
// itself that permits less.
func (h LicenseHint) ID() license.ID {
	text := license.Unknown
	if h.Text != "" {
		text = license.Recognize(h.Text)
	}
	switch {
	case len(h.Declared) > 0:
		declared := license.Declared(h.Declared)
		if text == license.Unknown || h.Above {
			return declared
		}
		return license.Stricter(declared, text)
	case h.Text != "":
		return text
	}
	return license.FromReadme(h.Readme)
}

// Skipped is an entry that becomes no part of a thing.
type Skipped struct {
	Source string
	Reason string
}

// Result is what was found at a place.
type Result struct {
	Place   Place
	Things  []Thing
	Skipped []Skipped
	Used    []Use // files of the folder that are read for the things in it
	Ignored int   // entries of the ignore list
}

// Find searches a source and calls visit for each place, in the order of paths. It holds the names
// of all folders, but the files of one place only. An error of visit ends the search.
func Find(ctx context.Context, src Source, o Options, visit func(Result) error) error {
	root, err := Tree(ctx, src)
	if err != nil {
		return err
	}
	return Visit(ctx, src, Places(root, o), o, visit)
}
