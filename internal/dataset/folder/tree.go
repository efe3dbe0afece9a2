package folder

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/cleanname"
)

// Tree is the files of a folder or an archive. Their names are clean: valid UTF-8 in the form NFC,
// whatever they are in the source. It implements [fs.FS].
type Tree struct {
	// Notes says which names were not UTF-8, and what could not be read.
	Notes []string
	// Paths are the paths in the tree of the files that [New] was called with; "" for those that were
	// left out.
	Paths []string

	root *node
}

// node is a file or a folder of a tree. It implements [fs.DirEntry] and [fs.FileInfo].
type node struct {
	name     string
	children map[string]*node // by name; nil for a file
	mode     fs.FileMode      // the type
	size     int64
	skipped  string // why the file is not read; empty if it is
	open     func() (io.ReadCloser, error)
}

func newTree() *Tree {
	return &Tree{root: &node{name: ".", mode: fs.ModeDir, children: map[string]*node{}}}
}

// folder returns the folder at a path, and creates it if it does not exist.
func (t *Tree) folder(segments []string) *node {
	at := t.root
	for _, name := range segments {
		at = at.folder(name)
	}
	return at
}

// folder returns a folder in n, and creates it if it does not exist. If a file has its name, it
// gets a number.
func (n *node) folder(name string) *node {
	free := name
	for i := 2; n.children[free] != nil && !n.children[free].IsDir(); i++ {
		free = cleanname.Numbered(name, i)
	}
	if n.children[free] == nil {
		n.children[free] = &node{name: free, mode: fs.ModeDir, children: map[string]*node{}}
	}
	return n.children[free]
}

// add adds a file to a folder. If the folder has one of its name, it gets a number.
func (n *node) add(f *node) {
	name := f.name
	for i := 2; n.children[f.name] != nil; i++ {
		f.name = cleanname.Numbered(name, i)
	}
	n.children[f.name] = f
}

// Open implements [fs.FS].
func (t *Tree) Open(name string) (fs.File, error) {
	n := t.root
	if name != "." {
		for segment := range strings.SplitSeq(name, "/") {
			if n = n.children[segment]; n == nil {
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			}
		}
	}
	if n.IsDir() {
		return &openFolder{node: n}, nil
	}
	if n.skipped != "" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New(n.skipped)}
	}
	r, err := n.open()
	if err != nil {
		return nil, err
	}
	opened := &openFile{info: n, ReadCloser: r}
	if f, ok := r.(fs.File); ok { // of a folder: its size was not read before
		if opened.info, err = f.Stat(); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return opened, nil
}

func (n *node) Name() string               { return n.name }
func (n *node) IsDir() bool                { return n.mode.IsDir() }
func (n *node) Type() fs.FileMode          { return n.mode.Type() }
func (n *node) Mode() fs.FileMode          { return n.mode }
func (n *node) Size() int64                { return n.size }
func (n *node) ModTime() time.Time         { return time.Time{} }
func (n *node) Sys() any                   { return nil }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }

type openFile struct {
	info fs.FileInfo
	io.ReadCloser
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// openFolder implements [fs.ReadDirFile]. Its entries are sorted by name.
type openFolder struct {
	*node
	read int
}

func (f *openFolder) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *openFolder) Close() error               { return nil }

func (f *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
}

func (f *openFolder) ReadDir(n int) (entries []fs.DirEntry, err error) {
	names := slices.Sorted(maps.Keys(f.children))[f.read:]
	if n > 0 && len(names) == 0 {
		return nil, io.EOF
	}
	if n > 0 {
		names = names[:min(n, len(names))]
	}
	f.read += len(names)
	for _, name := range names {
		entries = append(entries, f.children[name])
	}
	return entries, nil
}

// CleanName returns a clean name for a thing from the name of a folder or an archive.
func CleanName(name string) string {
	return cleanname.Segment(cleanname.NewDecoder([]string{name}).Decode(path.Base(name)))
}
