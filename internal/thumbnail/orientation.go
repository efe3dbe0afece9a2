package thumbnail

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"
)

// orientation is the EXIF orientation, 1 to 8 (CIPA DC-008, tag 0x0112).
type orientation int

const upright orientation = 1

// apply rotates and mirrors an image so that it is upright.
func (o orientation) apply(img image.Image) image.Image {
	if o <= upright || o > 8 {
		return img
	}
	from := copied(img)
	w, h := from.Rect.Dx(), from.Rect.Dy()
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	if o >= 5 {
		to = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			u, v := x, y
			switch o {
			case 2:
				u = w - 1 - x
			case 3:
				u, v = w-1-x, h-1-y
			case 4:
				v = h - 1 - y
			case 5:
				u, v = y, x
			case 6:
				u, v = h-1-y, x
			case 7:
				u, v = h-1-y, w-1-x
			case 8:
				u, v = y, w-1-x
			}
			copy(to.Pix[to.PixOffset(u, v):][:4], from.Pix[from.PixOffset(x, y):][:4])
		}
	}
	return to
}

// jpegHead is the information before the pixels of a JPEG.
type jpegHead struct {
	orientation orientation
	progressive bool
}

// readJPEGHead reads the segments up to the frame header (ITU T.81, annex B). It ignores damage,
// which the decoder reports.
func readJPEGHead(r io.Reader) (head jpegHead, err error) {
	head.orientation = upright
	b := bufio.NewReader(r)
	if _, err := b.Discard(2); err != nil {
		return head, broken(err)
	}
	for {
		var marker [4]byte
		if _, err := io.ReadFull(b, marker[:]); err != nil || marker[0] != 0xff {
			return head, broken(err)
		}
		length := int(binary.BigEndian.Uint16(marker[2:])) - 2
		switch kind := marker[1]; {
		case length < 0, kind == 0xda:
			return head, nil
		case kind == 0xc2 || kind == 0xc6 || kind == 0xca || kind == 0xce:
			head.progressive = true
			return head, nil
		case kind >= 0xc0 && kind <= 0xcf && kind != 0xc4 && kind != 0xc8 && kind != 0xcc:
			return head, nil
		case kind == 0xe1:
			segment := make([]byte, length) // at most 64 KiB
			if _, err := io.ReadFull(b, segment); err != nil {
				return head, broken(err)
			}
			if tiff, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); ok {
				head.orientation = readOrientation(tiff)
			}
			continue
		}
		if _, err := b.Discard(length); err != nil {
			return head, broken(err)
		}
	}
}

// broken returns nil for an unexpected end, which the decoder reports, and other errors unchanged.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// readOrientation reads the first directory of TIFF data.
func readOrientation(tiff []byte) orientation {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case len(tiff) < 8:
		return upright
	case string(tiff[:2]) == "MM":
		order = binary.BigEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return upright
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			return upright
		}
		if order.Uint16(entries) == 0x0112 {
			if o := orientation(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			return upright
		}
		entries = entries[12:]
	}
	return upright
}
