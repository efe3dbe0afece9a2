package folder

import (
	"fmt"
	"io"
	"strings"
)

// File is a file of a list.
type File struct {
	Path string // slash-separated
	Size int64
	Open func() (io.ReadCloser, error)
	Skip string // why it is not read; empty if it is
}

// New returns a tree of the files of a list. Files whose path leads out of it are left out and
// noted.
func New(files []File) *Tree {
	t := newTree()
	for _, f := range files {
		segments, ok := clean(f.Path)
		if !ok || len(segments) == 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%q: was skipped: it is not the path of a file", f.Path))
			t.Paths = append(t.Paths, "")
			continue
		}
		last := len(segments) - 1
		n := &node{name: segments[last], size: f.Size, open: f.Open, skipped: f.Skip}
		t.folder(segments[:last]).add(n)
		t.Paths = append(t.Paths, strings.Join(append(segments[:last:last], n.name), "/"))
	}
	return t
}
