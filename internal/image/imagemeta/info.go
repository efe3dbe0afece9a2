package imagemeta

import (
	"bufio"
	"errors"
	"io"
	"math"
)

// Info is the metadata that is needed to show an image.
type Info struct {
	Orientation Orientation
	ICC         []byte // the ICC profile of the colors; nil: there is none
	// Primaries and Transfer define the colors of a PNG by numbers of ITU-T H.273. They are 0 if it
	// does not define them so. They take precedence over ICC.
	Primaries, Transfer uint8
}

// Read reads the metadata of a JPEG, PNG or WebP. Of other and damaged images it returns what it
// could read. Errors are those of r.
func Read(r io.ReaderAt, size int64) (Info, error) {
	info := Info{Orientation: Upright}
	in := &reader{bufio.NewReaderSize(io.NewSectionReader(r, 0, size), window)}
	head, err := in.Peek(headSize)
	if err == nil || errors.Is(err, io.EOF) {
		switch formatOf(head) {
		case jpegFormat:
			err = jpegInfo(in, &info)
		case pngFormat:
			err = pngInfo(in, &info)
		case webpFormat:
			err = webpInfo(in, &info)
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return info, err
}

// reader reads the parts of an image.
type reader struct{ *bufio.Reader }

// bytes reads n bytes. The number of bytes that it allocates grows with those that it reads.
func (r *reader) bytes(n int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, n))
	if err == nil && int64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

func (r *reader) skip(n int64) error {
	for n > 0 {
		skipped, err := r.Discard(int(min(n, math.MaxInt32)))
		if err != nil {
			return err
		}
		n -= int64(skipped)
	}
	return nil
}
