// Package source provides the input of mesh decoders: a file with random access and a known size.
package source

import (
	"fmt"
	"io"
)

// Source is a file to decode.
type Source struct {
	io.ReaderAt
	Size int64
	Name string // its extension decides the format if the content does not
}

// Prefix returns the first n bytes of the file, or all of a shorter one.
func (s Source) Prefix(n int64) ([]byte, error) {
	b := make([]byte, min(n, s.Size))
	return b, s.ReadFull(b, 0)
}

// ReadFull fills b from an offset. If the file ends before Size, the storage has lost data: the
// error is io.ErrUnexpectedEOF and not a *mesh.Error, because the uploaded file is not at fault.
func (s Source) ReadFull(b []byte, offset int64) error {
	n, err := s.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return errShort
	}
	return err
}

// errShort reports a source that ends before its size.
var errShort = fmt.Errorf("source ends before its declared size: %w", io.ErrUnexpectedEOF)
