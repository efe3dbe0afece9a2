package thumbnail

import (
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"sync"
)

// The ways in which pictures are written.
const (
	PNG  = "png"
	JPEG = "jpg"
)

const (
	jpegQuality = 85
	// largePNG is how many pixels make a PNG large. Such are kept to cut others from, and squeezing them takes longer than drawing them;
	// small ones are made once and asked for often.
	largePNG = 400 * 400
)

// Encode writes a picture as png or jpg, with nothing but its pixels: the same bytes each time.
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
	return fmt.Errorf("pictures are not written as %q", as)
}

// buffers are used again by the next PNG.
var buffers bufferPool

type bufferPool struct{ sync.Pool }

func (p *bufferPool) Get() *png.EncoderBuffer {
	b, _ := p.Pool.Get().(*png.EncoderBuffer)
	return b
}

func (p *bufferPool) Put(b *png.EncoderBuffer) { p.Pool.Put(b) }
