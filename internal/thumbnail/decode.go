package thumbnail

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

// Limits on the number of pixels, checked before decoding. A progressive JPEG needs four times the
// memory, because its coefficients are held.
const (
	maxPixels            = 25_000_000
	maxProgressivePixels = 12_000_000
)

// Error explains to the user who uploaded an image why it cannot be shown.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

func errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Decode decodes a PNG, a JPEG, a WebP or the first frame of a GIF, and applies the EXIF
// orientation. An error that the image causes is an *Error; other errors come from r.
func Decode(r io.ReaderAt, size int64) (image.Image, error) {
	whole := func() io.Reader { return io.NewSectionReader(r, 0, size) }
	head := make([]byte, 16)
	if n, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else {
		head = head[:n]
	}
	var name string
	var config func(io.Reader) (image.Config, error)
	var decode func(io.Reader) (image.Image, error)
	limit := int64(maxPixels)
	turned := upright
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		name, config, decode = "PNG", png.DecodeConfig, png.Decode
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		name, config, decode = "JPEG", jpeg.DecodeConfig, jpeg.Decode
		jpegHead, err := readJPEGHead(whole())
		if err != nil {
			return nil, err
		}
		turned = jpegHead.orientation
		if jpegHead.progressive {
			name, limit = "progressive JPEG", maxProgressivePixels
		}
	case bytes.HasPrefix(head, []byte("GIF8")):
		name, config, decode = "GIF", gif.DecodeConfig, gif.Decode
	case len(head) >= 12 && bytes.HasPrefix(head, []byte("RIFF")) && string(head[8:12]) == "WEBP":
		name, config, decode = "WebP", webp.DecodeConfig, webp.Decode
	default:
		return nil, errorf("The file is not a PNG, JPEG, GIF or WebP image.")
	}
	c, err := config(whole())
	if err != nil {
		return nil, errorf("The %s is broken: %s.", name, err)
	}
	if c.Width <= 0 || c.Height <= 0 || int64(c.Width)*int64(c.Height) > limit {
		return nil, errorf("The %s has %d×%d pixels; at most %d million are supported.", name, c.Width, c.Height, limit/1_000_000)
	}
	img, err := decode(whole())
	if err != nil {
		return nil, errorf("The %s is broken: %s.", name, err)
	}
	return turned.apply(img), nil
}

// Normalize scales an image to at most 1600×1200 pixels, from which all sizes are cut, and returns
// the format to encode it in: JPEG, or PNG if it has transparency.
func Normalize(img image.Image) (image.Image, string) {
	whole := Scale(img, Size{Width: 1600, Height: 1200})
	if whole.(*image.RGBA).Opaque() {
		return whole, JPEG
	}
	return whole, PNG
}

// copied converts an image to RGBA.
func copied(img image.Image) *image.RGBA {
	to := image.NewRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(to, to.Bounds(), img, img.Bounds().Min, draw.Src)
	return to
}
