package imagemeta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// The markers of a JPEG file (ITU T.81, table B.1).
const (
	markerTEM  = 0x01
	markerSOF0 = 0xc0
	markerSOFF = 0xcf
	markerRST0 = 0xd0
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerDQT  = 0xdb
	markerEXP  = 0xdf
	markerAPP0 = 0xe0
	markerAPP1 = 0xe1
	markerAPP2 = 0xe2
	markerAPPE = 0xee
	markerSOF5 = 0xf7 // JPEG-LS
	markerLSE  = 0xf8 // JPEG-LS
)

var (
	jfif  = []byte("JFIF\x00")
	icc   = []byte("ICC_PROFILE\x00")
	adobe = []byte("Adobe")
)

// The lengths of the segments of JFIF without a thumbnail and of Adobe.
const (
	jfifLength  = 16
	adobeLength = 14
)

// jpegSegment handles one marker with its segment. Bytes between segments are kept: decoders ignore
// them.
func jpegSegment(s *stripper) error {
	head, err := s.r.Peek(2)
	if err != nil {
		return err
	}
	switch kind := head[1]; {
	case head[0] != 0xff:
		data, _ := s.r.Peek(s.r.Buffered())
		if s.copy = int64(bytes.IndexByte(data, 0xff)); s.copy < 0 {
			s.copy = int64(len(data))
		}
		return nil
	case kind == 0xff:
		s.skip = 1 // a fill byte
		return nil
	case kind == markerEOI:
		s.copy, s.next = 2, func(s *stripper) error { s.end(); return nil }
		return nil
	case kind <= markerTEM, kind >= markerRST0 && kind <= markerSOI:
		s.copy = 2 // it has no segment
		return nil
	}
	if head, err = s.r.Peek(4); err != nil {
		return err
	}
	kind, length := head[1], int64(binary.BigEndian.Uint16(head[2:]))
	if length < 2 {
		s.copy = 2
		return nil
	}
	switch {
	case kind == markerSOS:
		s.copy, s.next = 2+length, jpegScan
	case kind >= markerSOF0 && kind <= markerSOFF, kind >= markerDQT && kind <= markerEXP, kind == markerSOF5,
		kind == markerLSE:
		s.copy = 2 + length
	case kind >= markerAPP0 && kind <= markerAPPE:
		return jpegApplication(s, kind, length)
	default: // comments and extensions
		s.skip = 2 + length
	}
	return nil
}

// jpegApplication handles a segment of an application.
func jpegApplication(s *stripper, kind byte, length int64) error {
	head, err := s.r.Peek(int(min(2+length, 18)))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	is := func(name []byte) bool { return bytes.HasPrefix(head[4:], name) }
	s.skip = 2 + length
	switch {
	case kind == markerAPP0 && is(jfif) && length >= jfifLength && len(head) == 18:
		s.out = append([]byte(nil), head...)
		binary.BigEndian.PutUint16(s.out[2:], jfifLength)
		s.out[16], s.out[17] = 0, 0 // the dimensions of the thumbnail
	case kind == markerAPP1 && is(exifHeader):
		s.skip = 0
		segment, err := s.take(2 + length)
		if err != nil {
			return err
		}
		tiff, ok := cutExifHeader(segment[4:])
		if o := readOrientation(tiff); ok && !s.oriented && o != Upright {
			s.out = append([]byte{0xff, markerAPP1, 0, 2 + 6 + tiffSize}, "Exif\x00\x00"...)
			s.out = append(s.out, o.tiff()...)
		}
		s.oriented = s.oriented || ok // decoders read the first one
	case kind == markerAPP2 && is(icc):
		s.skip, s.copy = 0, 2+length
	case kind == markerAPPE && is(adobe) && length >= adobeLength && len(head) >= 2+adobeLength:
		s.out = append([]byte(nil), head[:2+adobeLength]...)
		binary.BigEndian.PutUint16(s.out[2:], adobeLength)
	}
	return nil
}

// jpegScan copies compressed data up to the next marker that is not part of it.
func jpegScan(s *stripper) error {
	if _, err := s.r.Peek(2); err != nil {
		return err
	}
	data, _ := s.r.Peek(s.r.Buffered())
	for at := 0; ; at += 2 {
		i := bytes.IndexByte(data[at:], 0xff)
		if i < 0 {
			s.copy = int64(len(data))
			return nil
		}
		if at += i; at+1 == len(data) {
			s.copy = int64(at)
			return nil
		}
		// A byte of data that is followed by zero, or a restart marker.
		if kind := data[at+1]; kind != 0 && (kind < markerRST0 || kind >= markerSOI) {
			s.copy, s.next = int64(at), jpegSegment
			return nil
		}
	}
}

// jpegInfo reads the segments up to the first scan.
func jpegInfo(r *reader, info *Info) error {
	if err := r.skip(2); err != nil {
		return err
	}
	profile := map[byte][]byte{}
	parts := byte(0)
	defer func() { info.ICC = joinProfile(profile, parts) }()
	for oriented := false; ; {
		kind, err := r.ReadByte()
		if err != nil {
			return err
		}
		if kind != 0xff {
			continue // decoders ignore bytes between segments
		}
		for kind == 0xff { // fill bytes
			if kind, err = r.ReadByte(); err != nil {
				return err
			}
		}
		if kind <= markerTEM || kind >= markerRST0 && kind <= markerSOI {
			continue
		}
		if kind == markerEOI || kind == markerSOS {
			return nil
		}
		size, err := r.bytes(2)
		if err != nil {
			return err
		}
		length := int64(binary.BigEndian.Uint16(size)) - 2
		switch {
		case length < 0:
			continue
		case kind == markerAPP1 || kind == markerAPP2:
			segment, err := r.bytes(length)
			if err != nil {
				return err
			}
			if tiff, ok := cutExifHeader(segment); ok && kind == markerAPP1 && !oriented {
				oriented, info.Orientation = true, readOrientation(tiff)
			}
			if part, ok := bytes.CutPrefix(segment, icc); ok && kind == markerAPP2 && len(part) > 2 {
				parts, profile[part[0]] = part[1], part[2:]
			}
			continue
		}
		if err := r.skip(length); err != nil {
			return err
		}
	}
}

// joinProfile joins the parts of an ICC profile, which are numbered from 1. It returns nil if one
// is missing.
func joinProfile(parts map[byte][]byte, n byte) (profile []byte) {
	for i := range int(n) {
		part, ok := parts[byte(i+1)]
		if !ok {
			return nil
		}
		profile = append(profile, part...)
	}
	return profile
}
