package archive

import (
	"archive/zip"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/meshyard/meshyard/internal/filesystem/durable"
)

// pack creates the ZIP file from the folder. The same files always yield the same ZIP file.
// Contents are stored without compression, because most formats of models and images are compressed
// already.
func (w *Writer) pack(ctx context.Context, m *Manifest) error {
	return durable.Write(w.zip, w.zip+partSuffix, func(to io.Writer) error { return w.writeZip(ctx, m, to) })
}

func (w *Writer) writeZip(ctx context.Context, m *Manifest, file io.Writer) error {
	z := zip.NewWriter(file)
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
		err := fs.WalkDir(os.DirFS(filepath.Join(w.dir, bytesFolder)), ".",
			func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				return add(path.Join(bytesFolder, name), zip.Store)
			})
		if err != nil {
			return err
		}
	}
	return z.Close()
}
