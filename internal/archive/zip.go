package archive

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// pack creates the ZIP file from the folder. The same files always yield the same ZIP file.
// Contents are stored without compression, because most formats of models and images are compressed
// already.
func (w *Writer) pack(ctx context.Context, m *Manifest) (err error) {
	f, err := os.OpenFile(w.zip+partSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	z := zip.NewWriter(f)
	add := func(name string, method uint16) error {
		from, err := os.Open(filepath.Join(w.dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		defer from.Close()
		to, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			return err
		}
		_, err = io.Copy(to, contextReader{ctx, from})
		return err
	}
	if err := add(manifestName, zip.Deflate); err != nil {
		return err
	}
	for _, n := range m.Nouns {
		if err := add(n.Name+rowsSuffix, zip.Deflate); err != nil {
			return err
		}
	}
	if m.Files.Count > 0 {
		err := fs.WalkDir(os.DirFS(filepath.Join(w.dir, bytesFolder)), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return add(path.Join(bytesFolder, name), zip.Store)
		})
		if err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), w.zip); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(w.zip))
}
