// Package qoi decodes images in the Quite OK Image Format, version 1.0
// (https://qoiformat.org/qoi-specification.pdf), which slicers embed for printers with displays.
package qoi

import (
	"bufio"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"io"
)

// Magic are the first bytes of an image.
const Magic = "qoif"

const headerSize = 14

// ErrFormat is the error of data that is no image in the format.
var ErrFormat = errors.New("invalid QOI image")

// DecodeConfig returns the dimensions of an image.
func DecodeConfig(r io.Reader) (image.Config, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil || string(header[:4]) != Magic {
		return image.Config{}, ErrFormat
	}
	width, height := binary.BigEndian.Uint32(header[4:]), binary.BigEndian.Uint32(header[8:])
	if width == 0 || height == 0 || width > 1<<16 || height > 1<<16 {
		return image.Config{}, ErrFormat
	}
	return image.Config{ColorModel: color.NRGBAModel, Width: int(width), Height: int(height)}, nil
}

// Decode decodes an image. The caller checks its dimensions before: Decode allocates four bytes for
// each pixel.
func Decode(r io.Reader) (image.Image, error) {
	in := bufio.NewReader(r)
	c, err := DecodeConfig(in)
	if err != nil {
		return nil, err
	}
	img := image.NewNRGBA(image.Rect(0, 0, c.Width, c.Height))
	d := decoder{in: in, pixel: [4]byte{0, 0, 0, 255}}
	run := 0
	for at := 0; at < len(img.Pix); at += 4 {
		if run > 0 {
			run--
		} else if run, err = d.next(); err != nil {
			return nil, ErrFormat
		}
		copy(img.Pix[at:], d.pixel[:])
	}
	return img, nil
}

type decoder struct {
	in    *bufio.Reader
	pixel [4]byte
	seen  [64][4]byte // by hash
}

// next reads a chunk, and returns how many more pixels have the same color.
func (d *decoder) next() (run int, err error) {
	b, err := d.in.ReadByte()
	if err != nil {
		return 0, err
	}
	p := &d.pixel
	switch {
	case b == 0xfe:
		_, err = io.ReadFull(d.in, p[:3])
	case b == 0xff:
		_, err = io.ReadFull(d.in, p[:])
	case b>>6 == 0:
		*p = d.seen[b]
	case b>>6 == 1:
		p[0], p[1], p[2] = p[0]+b>>4&3-2, p[1]+b>>2&3-2, p[2]+b&3-2
	case b>>6 == 2:
		var second byte
		second, err = d.in.ReadByte()
		green := b&63 - 32
		p[0], p[1], p[2] = p[0]+green+second>>4-8, p[1]+green, p[2]+green+second&15-8
	default:
		run = int(b & 63)
	}
	d.seen[(int(p[0])*3+int(p[1])*5+int(p[2])*7+int(p[3])*11)%64] = *p
	return run, err
}
