// Package imagemeta reads and removes the metadata of images: JPEG, PNG, GIF, WebP, AVIF and HEIC.
package imagemeta

import (
	"bufio"
	"errors"
	"io"
)

// window is the size of the buffer of a stripper. All headers that are examined are smaller.
const window = 4096

// everything is a number of bytes that no image has.
const everything = 1<<63 - 1

// Strip returns a reader of the image in r without the metadata that identifies people, places and
// cameras. It removes EXIF, XMP, IPTC, comments, embedded previews and what follows the image. It
// keeps the pixels, the orientation and what defines the colors, such as ICC profiles.
//
// The format is detected from the first bytes. Other files than images are read unchanged, and so
// is the rest of an image from where its structure cannot be read. Stripping an image twice gives
// the same bytes as stripping it once.
//
// The reader holds a few KiB, and at most 256 KiB while it reads the tables of AVIF and HEIC. It
// returns io.EOF only after r has.
func Strip(r io.Reader) io.Reader {
	return &stripper{r: bufio.NewReaderSize(r, window), next: detect}
}

// stripper writes the output in the order of its fields: out, then a part of the input that is
// copied, or replaced with zeros, or left out. Then it calls next, which sets them again.
type stripper struct {
	r    *bufio.Reader
	out  []byte
	copy int64
	zero int64
	skip int64
	// next examines the input. It returns io.EOF if the input cannot have what it expects: the rest is
	// copied.
	next func(*stripper) error

	oriented bool   // the orientation has been written, or is the default
	left     int64  // WebP: the bytes up to the end of the file by its header
	heif     *boxes // AVIF and HEIC: what the tables say
}

func (s *stripper) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		switch {
		case len(s.out) > 0:
			n = copy(p, s.out)
			s.out = s.out[n:]
			return n, nil
		case s.copy > 0:
			n, err = s.r.Read(p[:min(int64(len(p)), s.copy)])
			s.copy -= int64(n)
		case s.zero > 0:
			n, err = s.r.Read(p[:min(int64(len(p)), s.zero)])
			s.zero -= int64(n)
			clear(p[:n])
		case s.skip > 0:
			skipped, err := s.r.Discard(int(min(s.skip, window)))
			s.skip -= int64(skipped)
			if err != nil {
				return 0, err
			}
			continue
		default:
			if err := s.next(s); errors.Is(err, io.EOF) {
				s.copy = everything
			} else if err != nil {
				return 0, err
			}
			continue
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// take removes n bytes from the input, or fewer if it ends, and returns them. Memory grows with
// what has arrived.
func (s *stripper) take(n int64) ([]byte, error) { return io.ReadAll(io.LimitReader(s.r, n)) }

// format is the format of an image.
type format int

const (
	unknown format = iota
	jpegFormat
	pngFormat
	gifFormat
	webpFormat
	heifFormat // AVIF and HEIC
)

// headSize is the number of bytes from which formats are detected.
const headSize = 16

// formatOf detects the format from the first bytes.
func formatOf(head []byte) format {
	has := func(at int, text string) bool {
		return len(head) >= at+len(text) && string(head[at:at+len(text)]) == text
	}
	switch {
	case has(0, "\xff\xd8\xff"):
		return jpegFormat
	case has(0, "\x89PNG\r\n\x1a\n"):
		return pngFormat
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return gifFormat
	case has(0, "RIFF") && has(8, "WEBP"):
		return webpFormat
	case has(4, "ftyp") && len(head) >= 12 && heifBrands[string(head[8:12])]:
		return heifFormat
	}
	return unknown
}

// detect chooses the function for the format.
func detect(s *stripper) error {
	head, err := s.r.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch formatOf(head) {
	case jpegFormat:
		s.copy, s.next = 2, jpegSegment
	case pngFormat:
		s.copy, s.next = 8, pngChunk
	case gifFormat:
		s.next = gifHeader
	case webpFormat:
		s.next = webpHeader
	case heifFormat:
		s.heif, s.next = &boxes{}, heifBox
	default:
		s.copy = everything
	}
	return nil
}

// end leaves out the rest of the input.
func (s *stripper) end() { s.skip = everything }
