package texture

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/meshyard/meshyard/internal/image/webp"
)

// header is what the header of an image says.
type header struct {
	pixels int64
	memory int64 // that decoding takes at most, in bytes
	read   func(io.Reader) (image.Image, error)
}

// inspect reads the header of an image. ok is false if the image is unsupported or damaged.
func inspect(b []byte) (h header, ok bool) {
	config, perPixel := png.DecodeConfig, memoryPNG
	h.read = png.Decode
	switch {
	case bytes.HasPrefix(b, []byte("\xFF\xD8")):
		config, perPixel, h.read = jpeg.DecodeConfig, memoryJPEG, jpeg.Decode
	case bytes.HasPrefix(b, []byte("RIFF")):
		config, perPixel, h.read = webp.DecodeConfig, memoryWebP, webp.Decode
	}
	c, err := config(bytes.NewReader(b))
	if err != nil || c.Width <= 0 || c.Height <= 0 {
		return h, false
	}
	h.pixels = int64(c.Width) * int64(c.Height)
	h.memory = int64(float64(h.pixels) * perPixel(b, c.ColorModel))
	return h, true
}

// memoryPNG returns how many bytes package png allocates for each pixel.
func memoryPNG(b []byte, _ color.Model) float64 {
	const depth, interlaced = 24, 28 // offsets in the file
	bytes := 4.
	if b[depth] == 16 {
		bytes = 8
	}
	if b[interlaced] != 0 {
		bytes *= 2 // the image and its passes
	}
	return bytes
}

// memoryJPEG returns how many bytes package jpeg allocates for each pixel.
func memoryJPEG(b []byte, model color.Model) (bytes float64) {
	const start, extended, progressive = 0xC0, 0xC1, 0xC2 // markers of frames
	// Compressed data does not contain markers. What looks like one in metadata, which is improbable,
	// can only increase the result.
	for at := 0; at+20 <= len(b); at++ {
		if b[at] != 0xFF || b[at+1] < start || b[at+1] > progressive {
			continue
		}
		of, total, most := 1., 0., 1.
		if b[at+1] == progressive {
			of += 4 // coefficients of 32 bits
		}
		for i := range min(int(b[at+9]), 4) {
			if at+11+3*i >= len(b) {
				break
			}
			sampling := float64(b[at+11+3*i]>>4) * float64(b[at+11+3*i]&15)
			total, most = total+sampling, max(most, sampling)
		}
		bytes = max(bytes, of*total/most)
	}
	switch model {
	case color.CMYKModel:
		bytes += 8 // is converted twice
	case color.RGBAModel:
		bytes += 4 // is converted
	}
	return bytes
}

// memoryWebP returns how many bytes package webp allocates for each pixel.
func memoryWebP(_ []byte, model color.Model) float64 {
	if model == color.YCbCrModel {
		return 2
	}
	return 10 // a lossless image, or a lossless alpha channel, and a copy for a palette
}
