package imagemeta

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// heifBrands are the brands of AVIF and HEIC (ISO/IEC 23008-12, annex B, and AV1 Image File
// Format).
var heifBrands = map[string]bool{
	"avif": true, "avis": true, "heic": true, "heix": true, "heim": true, "heis": true, "hevc": true, "hevx": true,
	"hevm": true, "hevs": true, "mif1": true, "mif2": true, "msf1": true, "miaf": true,
}

// heifKept are the boxes that define the image, and those of a sequence of images. The boxes within
// moov and trak are handled like others.
var heifKept = map[string]bool{
	"mdat": true, "mvhd": true, "tkhd": true, "edts": true, "mdia": true, "tref": true, "mvex": true, "moof": true,
	"sidx": true,
}

// maxMeta is the maximum size of the tables. Those of an image with thousands of tiles are smaller.
const maxMeta = 256 << 10

// boxes is what is known of a file of boxes (ISO/IEC 14496-12).
type boxes struct {
	at     int64 // the position of the next box in the input
	begun  bool  // the first box has been read
	tables bool  // the tables have been read
	hidden []span
	mdat   int64 // the position after the data that is being copied; 0: none
}

// span is a range of bytes of the file that holds metadata.
type span struct {
	from, to int64
	exif     bool // the start of EXIF data
}

// emptyExif is an Exif item without entries: the offset of the TIFF data, and that data.
var emptyExif = []byte{0, 0, 0, 0, 'M', 'M', 0, '*', 0, 0, 0, 8, 0, 0, 0, 0, 0, 0}

// heifBox handles one box: a length, a name and content. Positions within the file are stored in
// the tables, so no byte is removed before the end of the image: what is not kept becomes zero.
func heifBox(s *stripper) error {
	f := s.heif
	head, err := s.r.Peek(16)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(head) < 8 {
		return f.broken(s)
	}
	size, name, header := int64(binary.BigEndian.Uint32(head)), string(head[4:8]), int64(8)
	switch {
	case size == 1 && len(head) == 16:
		size, header = int64(binary.BigEndian.Uint64(head[8:])), 16
	case size == 0: // up to the end
		size = everything - f.at
	}
	if size < header || size > everything-f.at {
		return f.broken(s)
	}
	if name == "ftyp" && f.begun {
		s.end() // another file
		return nil
	}
	switch {
	case name == "ftyp":
		s.copy = size
	case name == "moov", name == "trak":
		size = header // followed by the boxes within
		s.copy = size
	case name == "meta" && size <= maxMeta:
		b, err := s.take(size)
		if err != nil {
			return err
		}
		s.out = f.meta(b, int(header))
	case name == "mdat":
		s.copy, f.mdat, s.next = header, f.at+size, heifData
		size = header
	case heifKept[name]:
		s.copy = size
	case size == everything-f.at:
		s.end()
	default: // metadata, videos, and boxes of vendors
		s.out = append(s.out[:0], head[:header]...)
		copy(s.out[4:], "free")
		if _, err := s.r.Discard(int(header)); err != nil {
			return err
		}
		s.zero = size - header
	}
	f.begun = true
	f.at += size
	return nil
}

// broken leaves out what follows a complete image, and otherwise copies the rest.
func (f *boxes) broken(s *stripper) error {
	if !f.tables {
		return io.EOF
	}
	s.end()
	return nil
}

// heifData copies the data up to the next range that is hidden.
func heifData(s *stripper) error {
	f := s.heif
	for len(f.hidden) > 0 && f.hidden[0].to <= f.at {
		f.hidden = f.hidden[1:]
	}
	if f.at >= f.mdat {
		f.mdat, s.next = 0, heifBox
		return nil
	}
	if len(f.hidden) == 0 || f.hidden[0].from >= f.mdat {
		s.copy = f.mdat - f.at
		f.at = f.mdat
		return nil
	}
	h := f.hidden[0]
	if h.from > f.at {
		s.copy = h.from - f.at
		f.at = h.from
		return nil
	}
	to := min(h.to, f.mdat)
	if n := int64(len(emptyExif)); h.exif && h.from == f.at && to-f.at >= n {
		if _, err := s.take(n); err != nil {
			return err
		}
		s.out = append(s.out[:0], emptyExif...)
		f.at += n
	}
	s.zero = to - f.at
	f.at = to
	return nil
}

// meta notes which ranges of the file hold metadata, by the box meta, which begins at f.at. It
// returns the box without the metadata in it.
func (f *boxes) meta(b []byte, header int) []byte {
	var located []item
	kinds := map[uint32]string{}
	picture := false
	data := 0 // the position of the box idat
	eachBox(b, header+4, len(b), func(name string, from, to int) {
		switch name {
		case "hdlr":
			picture = to-from >= 12 && string(b[from+8:from+12]) == "pict"
		case "iinf":
			readKinds(b[from:to], kinds)
		case "iloc":
			located = readLocations(b[from:to])
		case "idat":
			data = from
		case "iprp":
			eachBox(b, from, to, func(name string, from, to int) {
				if name == "ipco" {
					eachBox(b, from, to, func(name string, from, to int) {
						// A description, and the times of creation and modification.
						if name == "udes" || name == "crtt" || name == "mdft" || name == "uuid" {
							clear(b[min(from+4, to):to])
						}
					})
				}
			})
		case "pitm", "iref", "dinf", "ipro", "grpl":
		default:
			copy(b[from-4:from], "free")
			clear(b[from:to])
		}
	})
	if !picture || f.tables { // tables of a video
		copy(b[min(4, len(b)):], "free")
		clear(b[min(header, len(b)):])
		return b
	}
	f.tables = true
	for _, item := range located {
		kind := kinds[item.id]
		if kind != "Exif" && kind != "mime" && kind != "uri " {
			continue
		}
		for i, e := range item.extents {
			h := span{from: e.from, to: e.to, exif: kind == "Exif" && i == 0}
			if item.inside {
				h.from, h.to = h.from+f.at+int64(data), h.to+f.at+int64(data)
			}
			// The data may be in this box.
			if from, to := max(h.from-f.at, 0), min(h.to-f.at, int64(len(b))); from < to && (!item.inside || data > 0) {
				clear(b[from:to])
				if h.exif && to-from >= int64(len(emptyExif)) {
					copy(b[from:], emptyExif)
				}
			}
			f.hidden = append(f.hidden, h)
		}
	}
	slices.SortFunc(f.hidden, func(x, y span) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(y.to, x.to)) })
	return b
}

// eachBox calls fn with the name and the content of each box in b[from:to].
func eachBox(b []byte, from, to int, fn func(name string, from, to int)) {
	for from+8 <= to {
		size, name := int(binary.BigEndian.Uint32(b[from:])), string(b[from+4:from+8])
		if size < 8 || size > to-from {
			return
		}
		fn(name, from+8, from+size)
		from += size
	}
}
