package library

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/internal/librarywalk"
)

// rules is the version of the rules of package layout and of the fingerprints. A scan by a program
// with another version reads all places again.
const rules = 1

// tree has the folders of a library.
type tree struct {
	mu      sync.Mutex
	folders map[string]*layout.Folder // by path
	// prints are the fingerprints of the entries of folders, and files those of their files alone.
	prints, files map[string]int64
	found         int64 // files
	unread        []string
}

// walk reads all folders below root.
func walk(ctx context.Context, root *os.Root) (*tree, error) {
	t := &tree{folders: map[string]*layout.Folder{}, prints: map[string]int64{}, files: map[string]int64{}}
	if err := librarywalk.Walk(ctx, root, layout.Ignored, t.add); err != nil {
		return nil, err
	}
	if top := t.folders[""]; top.Err != nil {
		return nil, top.Err
	}
	return t, nil
}

// add adds a folder that was read. The folder that contains it was added before.
func (t *tree) add(d librarywalk.Dir) error {
	kept := make([]librarywalk.Entry, 0, len(d.Entries))
	for _, e := range d.Entries {
		if !layout.Ignored(e.Name) {
			kept = append(kept, e)
		}
	}
	name := ""
	if d.Path != "" {
		name = path.Base(d.Path)
	}
	f := layout.Summarize(name, entries(kept))
	f.Path, f.Err = d.Path, d.Err
	print := librarywalk.Dir{Entries: kept}.Fingerprint()
	kept = slices.DeleteFunc(kept, func(e librarywalk.Entry) bool { return e.Mode.IsDir() })
	files := librarywalk.Dir{Entries: kept}.Fingerprint()

	t.mu.Lock()
	defer t.mu.Unlock()
	t.folders[d.Path], t.prints[d.Path], t.files[d.Path] = f, print, files
	t.found += int64(len(kept))
	if d.Path != "" {
		above := t.folders[parent(d.Path)]
		above.Folders = append(above.Folders, f)
	}
	if d.Err != nil {
		t.unread = append(t.unread, d.Path)
	}
	return nil
}

// parent returns the path of the folder that contains a path.
func parent(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}

func entries(found []librarywalk.Entry) []layout.Entry {
	converted := make([]layout.Entry, len(found))
	for i, e := range found {
		converted[i] = layout.Entry{Name: e.Name, Mode: e.Mode, Size: e.Size, ModTime: e.ModTime}
	}
	return converted
}

// isUncertain reports whether what is at a path or below it is unknown, because a folder could not
// be read.
func (t *tree) isUncertain(p string) bool {
	return slices.ContainsFunc(t.unread, func(dir string) bool {
		return p == dir || dir == "" || strings.HasPrefix(p, dir+"/") || strings.HasPrefix(dir, p+"/")
	})
}

// key identifies a place.
type key struct{ path, kind string }

// keyOf returns the key of a place that is not empty.
func keyOf(p layout.Place) key {
	switch {
	case p.Unused:
		return key{bucket.EscapePath(p.Folder.Path), "unused"}
	case p.Loose:
		return key{bucket.EscapePath(p.Folder.Path), "loose"}
	case len(p.Folders) > 0:
		return key{bucket.EscapePath(p.Folders[0].Path), "thing"}
	}
	return key{bucket.EscapePath(p.Folder.Path), "thing"}
}

// fingerprint returns a hash of everything that the things at a place depend on.
func (t *tree) fingerprint(p layout.Place) int64 {
	h := sha256.New()
	fmt.Fprintf(h, "%d %q %q %q %q %t\n", rules, p.Name, p.Creator, p.Collection, p.Tags, p.Top)
	switch {
	case p.Loose:
		fmt.Fprintln(h, "loose", t.prints[p.Folder.Path])
	case len(p.Folders) > 0:
		for _, f := range p.Folders {
			t.below(h, f)
		}
		t.beside(h, p.Folder)
	default:
		t.below(h, p.Folder)
		t.beside(h, p.Parent)
	}
	for _, f := range p.Licenses {
		fmt.Fprintln(h, "license", t.files[f.Path])
	}
	return int64(binary.LittleEndian.Uint64(h.Sum(nil)))
}

func (t *tree) below(w io.Writer, f *layout.Folder) {
	fmt.Fprintf(w, "%q %d\n", f.Path, t.prints[f.Path])
	for _, below := range f.Folders {
		t.below(w, below)
	}
}

// beside adds the files beside the folder of a thing, of which some may belong to it. Which ones
// also depends on the other folders there.
func (t *tree) beside(w io.Writer, parent *layout.Folder) {
	if parent != nil && parent.Models+parent.Archive+parent.Others > 0 {
		fmt.Fprintln(w, "beside", t.prints[parent.Path])
	}
}

// source reads the folders of a library again. It implements [layout.Source].
type source struct{ root *os.Root }

// List implements [layout.Source].
func (s source) List(dir string) ([]layout.Entry, error) {
	d := librarywalk.Read(s.root, dir)
	return entries(d.Entries), d.Err
}

// Text implements [layout.Source].
func (s source) Text(file string, limit int) ([]byte, error) {
	f, err := s.root.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(limit)))
}
