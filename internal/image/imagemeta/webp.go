package imagemeta

import (
	"encoding/binary"
	"io"
)

// webpKept are the chunks that define the image (RFC 9649, section 2.7).
var webpKept = map[string]bool{"VP8 ": true, "VP8L": true, "ALPH": true, "ANIM": true, "ICCP": true}

// xmpFlag in the chunk VP8X announces XMP.
const xmpFlag = 0x04

// webpHeader handles the header, which has the size of the file. Because it comes first, no byte is
// removed before that size: what is not kept is replaced with zeros.
func webpHeader(s *stripper) error {
	head, err := s.r.Peek(12)
	if err != nil {
		return err
	}
	if s.left = int64(binary.LittleEndian.Uint32(head[4:])) - 4; s.left < 8 {
		return io.EOF
	}
	s.copy, s.next = 12, webpChunk
	return nil
}

// webpChunk handles one chunk: a name, a length, content, and a zero if the length is odd. The
// chunks within a frame of an animation are handled like others.
func webpChunk(s *stripper) error {
	if s.left < 8 {
		s.end()
		return nil
	}
	head, err := s.r.Peek(8)
	if err != nil {
		return err
	}
	name, size := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
	size += size & 1
	switch {
	case name == "ANMF" && size >= 16:
		size = 16 // followed by the chunks of the frame
		s.copy = 8 + size
	case name == "VP8X" && size >= 1:
		if head, err = s.r.Peek(9); err != nil {
			return err
		}
		s.out = append([]byte(nil), head...)
		s.out[8] &^= xmpFlag
		if _, err := s.r.Discard(9); err != nil {
			return err
		}
		s.copy = size - 1
	case webpKept[name]:
		s.copy = 8 + size
	case name == "EXIF" && size >= tiffSize:
		chunk, err := s.take(8 + min(size, maxExif))
		if err != nil {
			return err
		}
		tiff, _ := cutExifHeader(chunk[8:])
		s.out = append(append(s.out, chunk[:8]...), readOrientation(tiff).tiff()...)
		s.out = append(s.out, make([]byte, max(0, len(chunk)-len(s.out)))...)
		s.zero = 8 + size - int64(len(chunk))
	default:
		s.out = append([]byte("JUNK"), head[4:8]...)
		if _, err := s.r.Discard(8); err != nil {
			return err
		}
		s.zero = size
	}
	s.left -= 8 + size
	return nil
}

// webpInfo reads all chunks.
func webpInfo(r *reader, info *Info) error {
	if err := r.skip(12); err != nil {
		return err
	}
	for oriented := false; ; {
		head, err := r.bytes(8)
		if err != nil {
			return err
		}
		name, size := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
		size += size & 1
		var content []byte
		if name == "EXIF" || name == "ICCP" {
			if content, err = r.bytes(min(size, maxProfile)); err != nil {
				return err
			}
		}
		switch {
		case name == "EXIF" && !oriented:
			tiff, _ := cutExifHeader(content)
			oriented, info.Orientation = true, readOrientation(tiff)
		case name == "ICCP" && info.ICC == nil:
			info.ICC = content
		}
		if err := r.skip(size - int64(len(content))); err != nil {
			return err
		}
	}
}
