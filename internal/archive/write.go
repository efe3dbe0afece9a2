package archive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/meshyard/meshyard/internal/filesystem/durable"
	"github.com/meshyard/meshyard/internal/filesystem/lockfile"
)

// Writer writes an archive. It always writes the rows again, but reuses the contents that an
// interrupted export left.
type Writer struct {
	dir  string
	zip  string // the ZIP file to create from the folder; empty: the folder is the archive
	lock *lockfile.Lock
}

// Create starts or continues the archive at path: a ZIP file if the name ends in .zip, otherwise a
// folder. A ZIP file is created from the folder path.partial once that is complete. Create returns
// an error if there is already an archive at path.
func Create(path string) (*Writer, error) {
	w := &Writer{dir: path}
	if strings.EqualFold(filepath.Ext(path), ".zip") {
		w.dir, w.zip = path+".partial", path
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s: already exists: use a new file", path)
		}
	}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return nil, err
	}
	begun := len(entries) == 0
	for _, e := range entries {
		switch e.Name() {
		case lockName:
			begun = true
		case manifestName:
			if w.zip == "" {
				return nil, fmt.Errorf("%s: already contains an archive: use a new folder", path)
			}
		}
	}
	if !begun && w.zip == "" {
		return nil, fmt.Errorf("%s: contains %s: use an empty or a new folder", path, entries[0].Name())
	}
	if w.lock, err = lockfile.Acquire(filepath.Join(w.dir, lockName)); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() != lockName {
			if err := os.Remove(filepath.Join(w.dir, e.Name())); err != nil {
				return nil, errors.Join(err, w.Close())
			}
		}
	}
	return w, nil
}

// Close ends an export. If it was not committed, a later export can continue it.
func (w *Writer) Close() error {
	if w.lock == nil {
		return nil
	}
	err := w.lock.Release()
	w.lock = nil
	return err
}

// Rows writes the rows of a noun. It calls fn with a function that writes one row, a JSON object
// without line breaks.
func (w *Writer) Rows(noun string, fn func(row func([]byte) error) error) (n Noun, err error) {
	f, err := os.OpenFile(filepath.Join(w.dir, noun+rowsSuffix), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n, err = writeRows(noun, f, fn)
	if err == nil {
		err = f.Sync()
	}
	return n, err
}

// writeRows writes the rows of a noun to a file of an archive.
func writeRows(noun string, to io.Writer, fn func(row func([]byte) error) error) (Noun, error) {
	sum := sha256.New()
	buffer := bufio.NewWriterSize(io.MultiWriter(to, sum), 256<<10)
	n := Noun{Name: noun}
	err := fn(func(row []byte) error {
		n.Rows++
		n.Size += int64(len(row)) + 1
		if _, err := buffer.Write(row); err != nil {
			return err
		}
		return buffer.WriteByte('\n')
	})
	if err == nil {
		err = buffer.Flush()
	}
	n.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return n, err
}

// Has reports whether the archive already contains a content with a size.
func (w *Writer) Has(c Content, size int64) bool {
	name, err := c.path()
	if err != nil {
		return false
	}
	info, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// Bytes stores the content that r returns. If it does not have the expected SHA-256, the error
// matches [ErrDamaged] and nothing is stored.
func (w *Writer) Bytes(ctx context.Context, c Content, r io.Reader) error {
	name, err := c.path()
	if err != nil {
		return err
	}
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return durable.WriteOneOfMany(path, path+partSuffix, func(to io.Writer) error {
		got := sha256.New()
		if _, err := io.Copy(io.MultiWriter(to, got), contextReader{ctx, r}); err != nil {
			return err
		}
		return checkSum(name, got, c.SHA256)
	})
}

func checkSum(name string, got hash.Hash, want string) error {
	if sum := hex.EncodeToString(got.Sum(nil)); sum != want {
		return fmt.Errorf("%s: %w: its SHA-256 is %s, not %s", name, ErrDamaged, sum, want)
	}
	return nil
}

// contextReader fails with the error of its context once the context is done.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// Commit completes the archive. It removes the contents, left by an earlier export, that are no
// longer needed. It calls wanted with batches of SHA-256; wanted returns the contents that the
// archive needs, by SHA-256.
func (w *Writer) Commit(ctx context.Context, m *Manifest,
	wanted func(sums []string) (map[string]Content, error)) error {
	if err := w.keep(ctx, m, wanted); err != nil {
		return err
	}
	text, err := m.text()
	if err != nil {
		return err
	}
	manifest := filepath.Join(w.dir, manifestName)
	if err := durable.Write(manifest, manifest+partSuffix,
		func(to io.Writer) error { _, err := to.Write(text); return err }); err != nil {
		return err
	}
	if w.zip != "" {
		if err := w.pack(ctx, m); err != nil {
			return err
		}
		err := w.Close()
		return errors.Join(err, os.RemoveAll(w.dir))
	}
	err = w.lock.Remove()
	w.lock = nil
	return errors.Join(err, durable.SyncFolder(w.dir))
}

// keep removes the contents that are not wanted, makes the directory entries of the others durable,
// and counts them.
func (w *Writer) keep(ctx context.Context, m *Manifest, wanted func(sums []string) (map[string]Content, error)) error {
	root := filepath.Join(w.dir, bytesFolder)
	folders, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	m.Files = Files{}
	for _, folder := range folders {
		if err := ctx.Err(); err != nil {
			return err
		}
		dir := filepath.Join(root, folder.Name())
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		sums := make([]string, len(entries))
		for i, e := range entries {
			sums[i] = e.Name()
		}
		named, err := wanted(sums)
		if err != nil {
			return err
		}
		for _, e := range entries {
			c, ok := named[e.Name()]
			if !ok {
				if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
				continue
			}
			size, err := w.keepContent(c)
			if err != nil {
				return err
			}
			m.Files.Count++
			m.Files.Bytes += size
		}
		if err := durable.SyncFolder(dir); err != nil {
			return err
		}
	}
	if len(folders) == 0 {
		return nil
	}
	return durable.SyncFolder(root)
}

// keepContent makes the directory entry of a content durable, removes what an earlier export has
// left under other names, and returns the size of the content.
func (w *Writer) keepContent(c Content) (size int64, err error) {
	name, err := c.path()
	if err != nil {
		return 0, err
	}
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	info, err := os.Lstat(file)
	if err != nil {
		return 0, err
	}
	if c.Name == "" {
		return info.Size(), nil
	}
	folder := filepath.Dir(file)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(file) {
			if err := os.Remove(filepath.Join(folder, e.Name())); err != nil {
				return 0, err
			}
		}
	}
	return info.Size(), durable.SyncFolder(folder)
}
