package imagemeta

import (
	"bytes"
	"encoding/binary"
)

// Orientation is the EXIF orientation, 1 to 8 (CIPA DC-008, tag 0x0112).
type Orientation int

// Upright is the orientation of an image that is shown as it is stored.
const Upright Orientation = 1

// maxExif is how much EXIF data is searched for the orientation.
const maxExif = 64 << 10

// exifHeader precedes the EXIF data in JPEG, and in the WebP images of some programs.
var exifHeader = []byte("Exif\x00")

// cutExifHeader removes the header of EXIF data: "Exif", a zero and a padding byte.
func cutExifHeader(b []byte) (tiff []byte, ok bool) {
	if len(b) < 6 || !bytes.HasPrefix(b, exifHeader) {
		return b, false
	}
	return b[6:], true
}

// readOrientation returns the orientation in the first directory of TIFF data. It is Upright if
// there is none.
func readOrientation(tiff []byte) Orientation {
	var order binary.ByteOrder
	switch {
	case len(tiff) < 8:
		return Upright
	case string(tiff[:2]) == "MM":
		order = binary.BigEndian
	case string(tiff[:2]) == "II":
		order = binary.LittleEndian
	default:
		return Upright
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return Upright
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			return Upright
		}
		if order.Uint16(entries) != 0x0112 {
			entries = entries[12:]
			continue
		}
		value := uint32(0)
		switch order.Uint16(entries[2:]) {
		case 1, 6: // BYTE, SBYTE
			value = uint32(entries[8])
		case 3, 8: // SHORT, SSHORT
			value = uint32(order.Uint16(entries[8:]))
		case 4, 9: // LONG, SLONG
			value = order.Uint32(entries[8:])
		}
		if value >= 1 && value <= 8 {
			return Orientation(value)
		}
		return Upright
	}
	return Upright
}

// tiffSize is the length of TIFF data with nothing but an orientation.
const tiffSize = 26

// tiff returns TIFF data with nothing but an orientation.
func (o Orientation) tiff() []byte {
	return []byte{
		'M', 'M', 0, '*', 0, 0, 0, 8, // the first directory is at 8
		0, 1, // it has one entry:
		0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, byte(o), 0, 0, // one SHORT
		0, 0, 0, 0, // there is no other directory
	}
}
