package source

import (
	"fmt"
	"io"
)

// Source is the bytes of a file.
type Source struct {
	io.ReaderAt
	Size int64
	Name string // its ending tells the format where the content does not
}

// start gives the first bytes of the file, at most n.
func (s Source) Prefix(n int64) ([]byte, error) {
	b := make([]byte, min(n, s.Size))
	return b, s.ReadFull(b, 0)
}

// readAt fills b with what stands at an offset. A file that ends before Size does not hold what it is thought to: that is no fault of the
// person who uploaded it.
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

// errShort is of a source that ends before its size.
var errShort = fmt.Errorf("a source ends before its size: %w", io.ErrUnexpectedEOF)
