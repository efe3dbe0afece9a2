package thumbnail

import (
	"fmt"
	"image"
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
	// stored to cut others from; small ones are encoded once and downloaded often.
	largePNG = 400 * 400
)

// Encode writes an image as PNG or JPEG, without metadata. The same image yields the same bytes.
func Encode(w io.Writer, img image.Image, as string) error {
	switch as {
	case PNG:
		e := png.Encoder{CompressionLevel: png.DefaultCompression, BufferPool: &buffers}
		if size := img.Bounds().Size(); size.X*size.Y >= largePNG {
			e.CompressionLevel = png.BestSpeed
		}
		return e.Encode(w, img)
	case JPEG:
		return jpeg.Encode(w, img, &jpeg.Options{Quality: jpegQuality})
	}
	return fmt.Errorf("images cannot be encoded as %q", as)
}

// buffers are reused by the PNG encoder.
var buffers bufferPool

type bufferPool struct{ sync.Pool }

func (p *bufferPool) Get() *png.EncoderBuffer {
	b, _ := p.Pool.Get().(*png.EncoderBuffer)
	return b
}

func (p *bufferPool) Put(b *png.EncoderBuffer) { p.Pool.Put(b) }
