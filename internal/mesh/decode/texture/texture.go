// Package texture decodes the texture images of meshes.
package texture

import (
	"bytes"
	"context"
	"image"
	"io"
	"runtime"

	"github.com/meshyard/meshyard/internal/mesh"
)

const (
	// maxSide is the maximum side of a texture. A rendering has less detail, and so does a viewer that
	// shows the whole model.
	maxSide = 2048
	// maxPixels is the maximum number of pixels that are decoded for a file, which bounds the time: as
	// many as 16 textures of 4096 by 4096 have.
	maxPixels = 256 << 20
	// share is the share of the memory for textures that those that are kept may take. The rest is for
	// decoding the next one.
	share = 3
	// minKept is how much memory textures can take in any case: that of one of 1024 by 1024 pixels.
	minKept = 6 << 20
)

// Decoder decodes the textures of one file. All have the same maximum side: the greatest power of
// two with which they fit into their memory.
type Decoder struct {
	memory  int64 // for images, and for decoding the next one
	keep    int64 // for images
	side    int   // the maximum side
	images  []*mesh.Image
	kept    int64 // memory of images
	pixels  int64 // number of decoded pixels
	garbage int64 // memory that decoding has taken since the last garbage collection
}

// NewDecoder returns a decoder with the limits of Limit.
func NewDecoder(memory, later int64) *Decoder {
	d := &Decoder{side: maxSide}
	d.Limit(memory, later)
	return d
}

// Limit sets how many bytes of memory there are for textures: now, while they are decoded, and
// later, beside the mesh. It downscales textures that have been decoded if they take more than a
// third of that.
func (d *Decoder) Limit(memory, later int64) {
	d.memory, d.keep = memory, max(later/share, minKept)
	d.shrink(d.keep)
}

// Left returns how much memory there is for decoding the next texture, including its file, if those
// before are downscaled.
func (d *Decoder) Left() int64 { return d.memory - min(d.kept, minKept) }

// Decode decodes a PNG, JPEG or WebP image, and downscales it if it is large or one of many. Later
// calls downscale it further if they need the memory. Decode returns nil if the image is
// unsupported, damaged or too large.
func (d *Decoder) Decode(ctx context.Context, b []byte) *mesh.Image {
	h, ok := inspect(b)
	need := h.memory + int64(len(b))
	if !ok || h.pixels > maxPixels-d.pixels || need > d.Left() {
		return nil
	}
	d.shrink(d.memory - need)
	d.pixels += h.pixels
	if d.garbage+need > d.memory-d.kept {
		runtime.GC() // the collector would start only after the next allocation
		d.garbage = 0
	}
	d.garbage += need
	img, err := h.read(&contextReader{ctx, bytes.NewReader(b)})
	if err != nil {
		return nil
	}
	colors, ok := img.(image.RGBA64Image)
	if !ok {
		return nil
	}
	small := downscale(colors, d.side)
	d.images, d.kept = append(d.images, small), d.kept+small.Memory()
	d.shrink(d.keep)
	return small
}

// shrink downscales all textures to a common side with which they take at most the given memory.
func (d *Decoder) shrink(memory int64) {
	for d.kept > memory && d.side > 1 {
		d.side, d.kept = d.side/2, 0
		for _, img := range d.images {
			*img = *img.Within(d.side)
			d.kept += img.Memory()
		}
	}
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
