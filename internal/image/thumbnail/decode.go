package thumbnail

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/meshyard/meshyard/internal/image/imagemeta"
	"github.com/meshyard/meshyard/internal/image/qoi"
	"github.com/meshyard/meshyard/internal/image/webp"
)

// largest is the size in which images are kept, and from which all sizes are cut.
var largest = Size{Width: 1600, Height: 1200}

// Error explains to the user who uploaded an image why it cannot be shown.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

func errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// decoder decodes a format.
type decoder struct {
	name   string
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	// perPixel returns how many bytes decode allocates for each pixel. It has the first bytes.
	perPixel func(head []byte, c image.Config) float64
}

// headSize is how many of the first bytes have what the memory depends on, unless a JPEG has
// metadata of several hundred kilobytes.
const headSize = 512 << 10

// decoderOf returns the decoder for a file with the given first bytes.
func decoderOf(head []byte) (d decoder, ok bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return decoder{"PNG", png.DecodeConfig, png.Decode, pngMemory}, true
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		d = decoder{"JPEG", jpeg.DecodeConfig, jpeg.Decode, jpegMemory}
		if f := readFrame(head); f.progressive {
			d.name = "progressive JPEG"
		}
		return d, true
	case bytes.HasPrefix(head, []byte("GIF8")):
		return decoder{"GIF", gif.DecodeConfig, gif.Decode, gifMemory}, true
	case len(head) >= 12 && bytes.HasPrefix(head, []byte("RIFF")) && string(head[8:12]) == "WEBP":
		return decoder{"WebP", webp.DecodeConfig, webp.Decode, webpMemory}, true
	}
	return d, false
}

// qoiDecoder decodes images that slicers embed. They are no uploads of their own.
var qoiDecoder = decoder{"QOI", qoi.DecodeConfig, qoi.Decode, func([]byte, image.Config) float64 { return 4 }}

// DecodeEmbedded decodes an image in a file of another format: one that Decode decodes, or a QOI.
func DecodeEmbedded(picture []byte, memory int64) (image.Image, error) {
	r := bytes.NewReader(picture)
	if bytes.HasPrefix(picture, []byte(qoi.Magic)) {
		return qoiDecoder.run(r, int64(len(picture)), memory, picture)
	}
	return Decode(r, int64(len(picture)), memory)
}

// Decode decodes a PNG, a JPEG, a WebP or the first frame of a GIF. The result is upright, has the
// colors of sRGB, and at most 1600×1200 pixels. Decoding takes about the given memory at most, in
// bytes. An error that the image causes is an *Error; other errors come from r.
func Decode(r io.ReaderAt, size, memory int64) (image.Image, error) {
	head, err := io.ReadAll(io.NewSectionReader(r, 0, min(size, headSize)))
	if err != nil {
		return nil, err
	}
	d, ok := decoderOf(head)
	if !ok {
		return nil, errorf("The file is not a PNG, JPEG, GIF or WebP image.")
	}
	return d.run(r, size, memory, head)
}

// run decodes a file with the given first bytes.
func (d decoder) run(r io.ReaderAt, size, memory int64, head []byte) (image.Image, error) {
	whole := func() io.Reader { return io.NewSectionReader(r, 0, size) }
	c, err := d.config(whole())
	if err != nil {
		return nil, errorf("The %s is broken: %s.", d.name, err)
	}
	perPixel := d.perPixel(head, c)
	if most := int64(float64(memory) / perPixel); c.Width <= 0 || c.Height <= 0 || int64(c.Width)*int64(c.Height) > most {
		return nil, errorf("The %s has %d×%d pixels; at most %d million are supported.", d.name, c.Width, c.Height,
			most/1_000_000)
	}
	info, err := imagemeta.Read(r, size)
	if err != nil {
		return nil, err
	}
	img, err := d.decode(whole())
	if err != nil {
		return nil, errorf("The %s is broken: %s.", d.name, err)
	}
	fit := largest
	if turned(info.Orientation) {
		fit.Width, fit.Height = fit.Height, fit.Width
	}
	small := upright(shrink(img, fit), info.Orientation)
	toSRGB(small, info)
	return small, nil
}

// Normalize scales an image to at most 1600×1200 pixels, from which all sizes are cut, and returns
// the format to encode it in: JPEG, or PNG if it has transparency.
func Normalize(img image.Image) (image.Image, string) {
	whole, ok := img.(*image.RGBA)
	if w, h := largest.Of(img.Bounds().Dx(), img.Bounds().Dy()); !ok || img.Bounds().Size() != image.Pt(w, h) {
		whole = shrink(img, largest)
	}
	if whole.Opaque() {
		return whole, JPEG
	}
	return whole, PNG
}
