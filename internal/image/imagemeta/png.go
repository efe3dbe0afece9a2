package imagemeta

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zlib"
)

// pngKept are the ancillary chunks that define the image: its colors, its frames and the size of
// its pixels (PNG, third edition).
var pngKept = map[string]bool{
	"tRNS": true, "gAMA": true, "cHRM": true, "sRGB": true, "iCCP": true, "cICP": true, "mDCV": true, "cLLI": true,
	"sBIT": true, "bKGD": true, "hIST": true, "pHYs": true, "sPLT": true, "acTL": true, "fcTL": true, "fdAT": true,
}

// pngChunk handles one chunk: a length, a name, content and a checksum.
func pngChunk(s *stripper) error {
	head, err := s.r.Peek(8)
	if err != nil {
		return err
	}
	size, name := int64(binary.BigEndian.Uint32(head)), string(head[4:8])
	if size >= 1<<31 || !isChunkName(name) {
		return io.EOF
	}
	switch {
	case name == "IEND":
		s.copy, s.next = 12+size, func(s *stripper) error { s.end(); return nil }
	case name == "eXIf":
		chunk, err := s.take(8 + min(size, maxExif))
		if err != nil {
			return err
		}
		s.skip = 12 + size - int64(len(chunk))
		if o := readOrientation(chunk[min(8, len(chunk)):]); !s.oriented && o != Upright {
			s.out = pngExif(o)
		}
		s.oriented = true
	case pngKept[name], name[0] <= 'Z': // chunks with a capital are critical
		s.copy = 12 + size
	default: // tEXt, zTXt, iTXt, tIME, and those of programs
		s.skip = 12 + size
	}
	return nil
}

// isChunkName reports whether a name consists of letters.
func isChunkName(name string) bool {
	for _, c := range []byte(name) {
		if c < 'A' || c > 'Z' && c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// pngExif returns a chunk with an orientation.
func pngExif(o Orientation) []byte {
	chunk := append([]byte{0, 0, 0, tiffSize}, "eXIf"...)
	chunk = append(chunk, o.tiff()...)
	return binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
}

// maxProfile is the maximum size of an ICC profile that is read. Those that are supported are
// small.
const maxProfile = 1 << 20

// pngInfo reads all chunks.
func pngInfo(r *reader, info *Info) error {
	if err := r.skip(8); err != nil {
		return err
	}
	for oriented := false; ; {
		head, err := r.bytes(8)
		if err != nil {
			return err
		}
		size, name := int64(binary.BigEndian.Uint32(head)), string(head[4:8])
		var content []byte
		if name == "eXIf" || name == "iCCP" || name == "cICP" {
			if content, err = r.bytes(min(size, maxProfile)); err != nil {
				return err
			}
		}
		switch {
		case name == "IEND":
			return nil
		case name == "eXIf" && !oriented:
			oriented, info.Orientation = true, readOrientation(content)
		case name == "cICP" && len(content) == 4:
			info.Primaries, info.Transfer = content[0], content[1]
		case name == "iCCP":
			// A name, a zero, and the compression method 0.
			if _, packed, ok := bytes.Cut(content, []byte{0, 0}); ok {
				info.ICC = inflate(packed)
			}
		}
		if err := r.skip(size - int64(len(content)) + 4); err != nil {
			return err
		}
	}
}

// inflate returns the uncompressed data, or nil if it is damaged or too large.
func inflate(packed []byte) []byte {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	defer z.Close()
	profile, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
	if err != nil || len(profile) > maxProfile {
		return nil
	}
	return profile
}
