package thumbnail

import (
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"sync"
)

// The encodings of images.
const (
	PNG  = "png"
	JPEG = "jpg"
)

const (
	jpegQuality = 85
	// largePNG is the number of pixels above which a PNG is compressed fast. Such images are only
	// stored as sources for other sizes; small ones are encoded once and downloaded often.
	largePNG = 400 * 400
)

// Encode writes an image as PNG or JPEG, without metadata. The same image yields the same bytes.
func Encode(w io.Writer, img image.Image, as string) error {
	switch as {
	case PNG:
		e := png.Encoder{CompressionLevel: png.DefaultCompression, BufferPool: &buffers}
		if size := img.Bounds().Size(); size.X*size.Y >= largePNG {
			if rendered, ok := img.(*image.NRGBA); ok && rendered.Opaque() {
				return encodeFastPNG(w, rendered)
			}
			e.CompressionLevel = png.BestSpeed
		}
		return e.Encode(w, img)
	case JPEG:
		return jpeg.Encode(w, opaque(img), &jpeg.Options{Quality: jpegQuality})
	}
	return fmt.Errorf("image format %q: not supported", as)
}

// opaque returns an image on a white background, because JPEG has no transparency.
func opaque(img image.Image) image.Image {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return img
	}
	on := image.NewRGBA(img.Bounds())
	draw.Draw(on, on.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(on, on.Bounds(), img, img.Bounds().Min, draw.Over)
	return on
}

// buffers are reused by the PNG encoder.
var buffers bufferPool

type bufferPool struct{ sync.Pool }

func (p *bufferPool) Get() *png.EncoderBuffer {
	b, _ := p.Pool.Get().(*png.EncoderBuffer)
	return b
}

func (p *bufferPool) Put(b *png.EncoderBuffer) { p.Pool.Put(b) }
