// Package texture decodes the texture images of meshes.
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

	"github.com/meshyard/meshyard/internal/mesh"
)

const (
	// maxPixels is the maximum number of pixels of one texture, maxTotalPixels of all textures of a
	// file.
	maxPixels, maxTotalPixels = 16 << 20, 64 << 20
	// maxSide is the maximum side of a downscaled texture.
	maxSide = 1024
	// maxKept is the maximum number of pixels of all downscaled textures of a file, which take about
	// 85 MiB.
	maxKept = 16 << 20
)

// Decoder decodes the textures of one file.
type Decoder struct {
	pixels int64 // number of decoded pixels
	kept   int   // number of pixels after downscaling
}

// Decode decodes a PNG, JPEG or WebP image, and downscales it if it is large or one of very many.
// It returns nil if the image is unsupported, damaged or too large.
func (d *Decoder) Decode(ctx context.Context, b []byte) *mesh.Image {
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
	small := downscale(colors, d.side())
	width, height := small.Size()
	d.kept += width * height
	return small
}

// side returns the maximum side of the next texture. Each gets a sixteenth of the pixels that the
// ones before have left.
func (d *Decoder) side() int {
	return min(maxSide, max(1, int(math.Sqrt(float64(max(0, maxKept-d.kept)/16)))))
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

// downscale returns an image of at most side pixels a side. Each pixel is the mean of at most nine
// samples of its area.
func downscale(img image.RGBA64Image, side int) *mesh.Image {
	bounds := img.Bounds()
	step := (max(bounds.Dx(), bounds.Dy()) + side - 1) / side
	width, height := (bounds.Dx()+step-1)/step, (bounds.Dy()+step-1)/step
	pixels := make([]uint32, 0, width*height)
	stride := max(1, step/3)
	part := make([]uint32, 0, 9)
	for y := bounds.Min.Y; y < bounds.Max.Y; y += step {
		for x := bounds.Min.X; x < bounds.Max.X; x += step {
			part = part[:0]
			for dy := 0; dy < min(step, bounds.Max.Y-y, 3*stride); dy += stride {
				for dx := 0; dx < min(step, bounds.Max.X-x, 3*stride); dx += stride {
					part = append(part, pixel(img, x+dx, y+dy))
				}
			}
			pixels = append(pixels, mesh.Mean(part...))
		}
	}
	return mesh.NewImage(width, height, pixels)
}

// pixel returns a color with straight alpha. Transparent pixels of most images have a color too,
// which is visible if a material ignores alpha.
func pixel(img image.RGBA64Image, x, y int) uint32 {
	if straight, ok := img.(*image.NRGBA); ok {
		p := straight.Pix[straight.PixOffset(x, y):][:4:4]
		return uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | uint32(p[3])<<24
	}
	c := img.RGBA64At(x, y)
	alpha := max(1, uint32(c.A))
	return uint32(c.R)*255/alpha | uint32(c.G)*255/alpha<<8 | uint32(c.B)*255/alpha<<16 | uint32(c.A)>>8<<24
}
