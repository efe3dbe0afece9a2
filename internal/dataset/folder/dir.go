package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/cleanname"
	"github.com/meshyard/meshyard/internal/layout"
)

// Dir is an open folder of the file system.
type Dir struct {
	*Tree
	root *os.Root
}

// Close closes the folder.
func (d *Dir) Close() error { return d.root.Close() }

// dirEntry is an entry that was found in a folder.
type dirEntry struct {
	fs.DirEntry
	parent *dirEntry
	raw    string // its path, as the file system has it
	node   *node  // of a folder, once it is in the tree
}

// OpenDir opens a folder with everything below it. Names may be in any encoding. What cannot be
// read is left out and noted.
func OpenDir(dir string) (*Dir, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	d := &Dir{newTree(), root}
	top := &dirEntry{raw: ".", node: d.Tree.root}
	if err := d.fill(top); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return d, nil
}

// fill adds everything below a folder to the tree. The error is that of the folder itself.
func (d *Dir) fill(top *dirEntry) error {
	var all []*dirEntry
	var unread []string
	for queue := []*dirEntry{top}; len(queue) > 0; queue = queue[1:] {
		parent := queue[0]
		entries, err := readDir(d.root, parent.raw)
		if err != nil && parent == top {
			return err
		}
		if err != nil {
			unread = append(unread, fmt.Sprintf("%s: was skipped: %v", parent.raw, err))
		}
		for _, e := range entries {
			if layout.Ignored(e.Name()) {
				continue
			}
			found := &dirEntry{DirEntry: e, parent: parent, raw: filepath.Join(parent.raw, e.Name())}
			all = append(all, found)
			if e.IsDir() {
				queue = append(queue, found)
			}
		}
	}
	raw := make([]string, len(all))
	for i, e := range all {
		raw[i] = e.Name()
	}
	names := cleanname.NewDecoder(raw)
	for _, e := range all { // a folder comes before its entries
		name := cleanname.Segment(names.Decode(e.Name()))
		if e.IsDir() {
			e.node = e.parent.node.folder(name)
			continue
		}
		e.parent.node.add(&node{name: name, mode: e.Type(),
			open: func() (io.ReadCloser, error) { return d.root.Open(e.raw) }})
	}
	d.Notes = names.Note()
	d.Notes = append(d.Notes, unread...)
	return nil
}

// readDir returns the entries of a folder, sorted by name. It returns those before an error.
func readDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
