// Package librarywalk reads the folders of a large tree in parallel: the names, types, sizes and
// times of all files, but no contents. It never leaves the tree and does not follow symbolic links.
package librarywalk

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Entry is a file or a folder.
type Entry struct {
	Name    string // as the file system has it, in whatever encoding
	Mode    fs.FileMode
	Size    int64
	ModTime int64 // in nanoseconds since 1970
}

// Dir is a folder that was read.
type Dir struct {
	Path    string // slash-separated, "" is the top
	Entries []Entry
	Err     error // what could not be read; Entries has the rest
}

// Fingerprint returns a hash of the entries: it differs if a file or folder in the folder was
// added, removed, renamed, or if a file in it changed its size or time. The times of folders do not
// count.
func (d Dir) Fingerprint() int64 {
	h := sha256.New()
	var b [17]byte
	for _, e := range d.Entries {
		h.Write([]byte(e.Name))
		binary.LittleEndian.PutUint32(b[1:], uint32(e.Mode.Type()))
		if !e.Mode.IsDir() {
			binary.LittleEndian.PutUint64(b[1:], uint64(e.Size)^uint64(e.Mode.Type())<<32)
			binary.LittleEndian.PutUint64(b[9:], uint64(e.ModTime))
		}
		h.Write(b[:])
		b = [17]byte{}
	}
	return int64(binary.LittleEndian.Uint64(h.Sum(nil)))
}

// walk is a walk in progress.
type walk struct {
	root    *os.Root
	ignored func(string) bool
	visit   func(Dir) error

	mu      sync.Mutex
	changed sync.Cond
	queue   []string // folders to read
	busy    int      // folders that are being read
	err     error
}

// Walk reads the top of a tree and all folders below it, except those with ignored names. It calls
// visit for each of them from several goroutines. The order is not defined, except that a folder
// comes before those in it. An error of visit ends the walk.
func Walk(ctx context.Context, root *os.Root, ignored func(name string) bool, visit func(Dir) error) error {
	w := &walk{root: root, ignored: ignored, visit: visit, queue: []string{""}}
	w.changed.L = &w.mu
	var workers sync.WaitGroup
	for range max(2, min(runtime.GOMAXPROCS(0), 16)) { // one waits for the disk while another computes
		workers.Go(func() { w.work(ctx) })
	}
	workers.Wait()
	return w.err
}

// work reads folders until there are no more. The last folder that was found is read first, so that
// the queue stays short.
func (w *walk) work(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.queue) == 0 && w.busy > 0 && w.err == nil {
			w.changed.Wait()
		}
		if w.err == nil {
			w.err = ctx.Err()
		}
		if len(w.queue) == 0 || w.err != nil {
			w.changed.Broadcast()
			return
		}
		dir := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		w.busy++
		w.mu.Unlock()
		d := Read(w.root, dir)
		err := w.visit(d)
		w.mu.Lock()
		w.busy--
		if w.err == nil {
			w.err = err
		}
		for _, e := range slices.Backward(d.Entries) {
			if e.Mode.IsDir() && !w.ignored(e.Name) {
				w.queue = append(w.queue, path.Join(dir, e.Name))
			}
		}
		w.changed.Broadcast()
	}
}

// Read reads one folder of a tree. Its entries are sorted by name.
func Read(root *os.Root, dir string) Dir {
	d := Dir{Path: dir}
	name := dir
	if name == "" {
		name = "."
	}
	f, err := root.Open(name)
	if err != nil {
		d.Err = err
		return d
	}
	defer f.Close()
	d.Entries, d.Err = list(f)
	slices.SortFunc(d.Entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return d
}
