package archive

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	maxManifest = 64 << 20
	// maxRow is the maximum size of a row in bytes.
	maxRow = 16 << 20
)

// Reader reads a complete archive.
type Reader struct {
	*Manifest
	// ID identifies the archive: it is the SHA-256 of the manifest, which contains the SHA-256 of each
	// file of rows.
	ID string

	files fs.FS
	close func() error
}

// Open opens the archive at path, a folder or a ZIP file.
func Open(path string) (*Reader, error) {
	r := new(Reader)
	if strings.EqualFold(filepath.Ext(path), ".zip") {
		z, err := zip.OpenReader(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r.files, r.close = z, z.Close
	} else {
		root, err := os.OpenRoot(path)
		if err != nil {
			return nil, err
		}
		r.files, r.close = root.FS(), root.Close
	}
	if err := r.manifest(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), r.Close())
	}
	return r, nil
}

// Close releases the resources of the reader.
func (r *Reader) Close() error { return r.close() }

func (r *Reader) manifest() error {
	f, err := r.files.Open(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("has no %s, so it is not a complete archive", manifestName)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return err
	}
	r.Manifest = new(Manifest)
	if err := json.Unmarshal(text, r.Manifest); err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	if err := r.check(); err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	sum := sha256.Sum256(text)
	r.ID = hex.EncodeToString(sum[:])
	return nil
}

// Verify reads all rows and compares their size and SHA-256 with the manifest. The error matches
// [ErrDamaged] if they differ.
func (r *Reader) Verify(ctx context.Context) error {
	for _, n := range r.Nouns {
		if err := r.verify(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) verify(ctx context.Context, n Noun) error {
	f, err := r.files.Open(n.Name + rowsSuffix)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, contextReader{ctx, io.LimitReader(f, n.Size+1)})
	if err != nil {
		return err
	}
	if size != n.Size {
		return fmt.Errorf("%s%s: %w: its size is not the %d bytes in the manifest", n.Name, rowsSuffix, ErrDamaged, n.Size)
	}
	return checkSum(n.Name+rowsSuffix, sum, n.SHA256)
}

// Rows calls fn with each row of a noun. The row is only valid during the call.
func (r *Reader) Rows(noun string, fn func(row []byte) error) error {
	f, err := r.files.Open(noun + rowsSuffix)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 64<<10), maxRow)
	for lines.Scan() {
		if err := fn(lines.Bytes()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s%s: %w", noun, rowsSuffix, err)
	}
	return nil
}

// Bytes opens the content with a SHA-256. The caller must verify the SHA-256 of what it reads. The
// error matches [fs.ErrNotExist] if the content is not in the archive. Other errors, and those of
// the reader, match [ErrUnreadable].
func (r *Reader) Bytes(sum string) (io.ReadCloser, error) {
	name, err := bytesPath(sum)
	if err != nil {
		return nil, err
	}
	f, err := r.content(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return contentReader{f}, nil
}

// content opens a content at a path, or the only file in a folder of that path.
func (r *Reader) content(name string) (fs.File, error) {
	info, err := fs.Stat(r.files, name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return r.files.Open(name)
	}
	entries, err := fs.ReadDir(r.files, name)
	if err != nil {
		return nil, err
	}
	if len(entries) != 1 || entries[0].IsDir() {
		return nil, fmt.Errorf("%s: must contain one file", name)
	}
	return r.files.Open(path.Join(name, entries[0].Name()))
}

// contentReader reads a content.
type contentReader struct{ io.ReadCloser }

func (r contentReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return n, err
}
