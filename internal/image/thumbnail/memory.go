package thumbnail

import (
	"encoding/binary"
	"image"
	"image/color"
)

// pngMemory returns how many bytes package png allocates for each pixel.
func pngMemory(head []byte, c image.Config) float64 {
	const depth, interlaced = 24, 28 // offsets in the file
	perPixel := 4.
	if _, palette := c.ColorModel.(color.Palette); palette {
		perPixel = 1
	}
	if head[depth] == 16 {
		perPixel = 8
	}
	if head[interlaced] != 0 {
		perPixel *= 2 // the image and its passes
	}
	return perPixel
}

// gifMemory returns how many bytes package gif allocates for each pixel: the frame, and a copy if
// it is interlaced.
func gifMemory([]byte, image.Config) float64 { return 2 }

// webpMemory returns how many bytes package webp allocates for each pixel.
func webpMemory(_ []byte, c image.Config) float64 {
	if c.ColorModel == color.YCbCrModel {
		return 2
	}
	return 10 // a lossless image, or a lossless alpha channel, and a copy for a palette
}

// jpegMemory returns how many bytes package jpeg allocates for each pixel.
func jpegMemory(head []byte, c image.Config) float64 {
	f := readFrame(head)
	perPixel := f.samples
	if perPixel == 0 {
		perPixel = 4 // the frame is not in the first bytes
		f.progressive = true
	}
	if f.progressive {
		perPixel += 4 * perPixel // each coefficient has 32 bits
	}
	switch c.ColorModel {
	case color.CMYKModel:
		perPixel += 8 // is converted twice
	case color.RGBAModel:
		perPixel += 4 // is converted
	}
	return perPixel
}

// frame is what the frame header of a JPEG says.
type frame struct {
	progressive bool
	samples     float64 // for each pixel
}

// readFrame reads the segments up to the frame header (ITU T.81, annex B). It returns the zero
// frame if there is none.
func readFrame(b []byte) (f frame) {
	for at := 2; at+4 <= len(b); {
		if b[at] != 0xff || b[at+1] == 0xff || b[at+1] == 0 {
			at++ // fill bytes, and what decoders ignore
			continue
		}
		kind := b[at+1]
		if kind == 0x01 || kind >= 0xd0 && kind <= 0xd8 {
			at += 2
			continue
		}
		if kind == 0xda {
			return f
		}
		if kind < 0xc0 || kind > 0xcf || kind == 0xc4 || kind == 0xc8 || kind == 0xcc {
			at += 2 + int(binary.BigEndian.Uint16(b[at+2:]))
			continue
		}
		f.progressive = kind&3 == 2
		most := 1.
		for i := 0; at+11+3*i < len(b) && i < int(b[at+9]); i++ {
			n := float64(b[at+11+3*i]>>4) * float64(b[at+11+3*i]&15)
			f.samples, most = f.samples+n, max(most, n)
		}
		f.samples /= most
		return f
	}
	return f
}
