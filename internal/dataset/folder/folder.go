// Package folder opens folders and ZIP archives with the files of things, whatever the encoding of
// their names.
package folder

import (
	"io"
	"io/fs"

	"github.com/meshyard/meshyard/internal/layout"
)

// List implements [layout.Source].
func (t *Tree) List(dir string) (entries []layout.Entry, err error) {
	if dir == "" {
		dir = "."
	}
	found, err := fs.ReadDir(t, dir)
	for _, e := range found {
		n := e.(*node)
		entries = append(entries, layout.Entry{Name: n.name, Mode: n.mode.Type() &^ fs.ModeIrregular, Size: n.size,
			Skip: n.skipped})
	}
	return entries, err
}

// Text implements [layout.Source].
func (t *Tree) Text(file string, limit int) ([]byte, error) {
	f, err := t.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(limit)))
}
