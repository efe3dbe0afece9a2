// Package texture decodes the texture images of meshes, for the colors at their vertices.
package texture

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/webp"
)

const (
	// maxPixels is the maximum number of pixels of one texture, maxTotalPixels of all textures of a
	// file.
	maxPixels, maxTotalPixels = 16 << 20, 64 << 20
	// maxSide is the maximum side of a downscaled texture. Only its colors at vertices are used.
	maxSide = 512
)

// Wrap is what a texture shows outside of its image.
type Wrap uint8

// The wrapping modes.
const (
	Repeat Wrap = iota
	Mirror
	Clamp
)

// Texture is a downscaled texture image.
type Texture struct {
	width, height int
	pixels        [][4]uint8 // sRGB, straight alpha
	WrapU, WrapV  Wrap
}

// Decoder decodes the textures of one file.
type Decoder struct {
	pixels int64 // number of decoded pixels
}

// Decode decodes a PNG, JPEG or WebP image. It returns nil if the image is unsupported, damaged or
// too large.
func (d *Decoder) Decode(ctx context.Context, b []byte) *Texture {
	config, read := png.DecodeConfig, png.Decode
	switch {
	case bytes.HasPrefix(b, []byte("\xFF\xD8")):
		config, read = jpeg.DecodeConfig, jpeg.Decode
	case bytes.HasPrefix(b, []byte("RIFF")):
		config, read = webp.DecodeConfig, webp.Decode
	}
	c, err := config(bytes.NewReader(b))
	if err != nil || c.Width <= 0 || c.Height <= 0 || int64(c.Width)*int64(c.Height) > min(maxPixels, maxTotalPixels-d.pixels) {
		return nil
	}
	d.pixels += int64(c.Width) * int64(c.Height)
	img, err := read(&contextReader{ctx, bytes.NewReader(b)})
	if err != nil {
		return nil
	}
	colors, ok := img.(image.RGBA64Image)
	if !ok {
		return nil
	}
	return downscale(colors)
}

// contextReader checks the context with each read, because even small images can take long to
// decode.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (a *contextReader) Read(p []byte) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, err
	}
	return a.Reader.Read(p[:min(len(p), 512)])
}

// downscale returns a texture of at most maxSide pixels a side. Each pixel is the mean of at
// most nine samples of its area.
func downscale(img image.RGBA64Image) *Texture {
	bounds := img.Bounds()
	step := (max(bounds.Dx(), bounds.Dy()) + maxSide - 1) / maxSide
	t := &Texture{width: (bounds.Dx() + step - 1) / step, height: (bounds.Dy() + step - 1) / step}
	t.pixels = make([][4]uint8, 0, t.width*t.height)
	stride := max(1, step/3)
	for y := range t.height {
		for x := range t.width {
			var r, g, b, a, n uint32
			for dy := 0; dy < step && y*step+dy < bounds.Dy() && dy < 3*stride; dy += stride {
				for dx := 0; dx < step && x*step+dx < bounds.Dx() && dx < 3*stride; dx += stride {
					c := img.RGBA64At(bounds.Min.X+x*step+dx, bounds.Min.Y+y*step+dy)
					r, g, b, a, n = r+uint32(c.R), g+uint32(c.G), b+uint32(c.B), a+uint32(c.A), n+1
				}
			}
			straight := func(c uint32) uint8 { // c is premultiplied with alpha
				if a == 0 {
					return 0
				}
				return uint8((uint64(c)*255 + uint64(a)/2) / uint64(a))
			}
			t.pixels = append(t.pixels, [4]uint8{straight(r), straight(g), straight(b), uint8((a/n + 128) / 257)})
		}
	}
	return t
}

// At returns the pixel at texture coordinates u, v. 0, 0 is the upper left corner, 1, 1 the lower
// right.
func (t *Texture) At(u, v float64) [4]uint8 {
	return t.pixels[wrap(v, t.WrapV, t.height)*t.width+wrap(u, t.WrapU, t.width)]
}

// wrap maps a texture coordinate to a pixel index.
func wrap(x float64, how Wrap, pixels int) int {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		x = 0
	case how == Repeat:
		x -= math.Floor(x)
	case how == Mirror:
		if x = math.Mod(math.Abs(x), 2); x > 1 {
			x = 2 - x
		}
	}
	return int(max(0, min(float64(pixels)-1, math.Floor(x*float64(pixels)))))
}
