package glb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

const (
	// maxImages is the maximum size of all images of a file together.
	maxImages   = 32 << 20
	jpegQuality = 90
)

// encoded is an image as PNG or JPEG.
type encoded struct {
	content []byte
	kind    string // the media type
}

// encodeImages encodes the images of the parts, each once, and sets their image. It downscales them
// to a common maximum side if they are too large. It returns false if even that does not help.
func encodeImages(parts []part) (images []encoded, ok bool) {
	known := map[*mesh.Image]int{}
	var opaque []bool
	var sources []*mesh.Image
	side := 1
	for i := range parts {
		t := parts[i].texture
		at, ok := known[t.Image]
		if !ok {
			at = len(sources)
			known[t.Image] = at
			sources, opaque = append(sources, t.Image), append(opaque, true)
			width, height := t.Size()
			side = max(side, width, height)
		}
		parts[i].image = at
		opaque[at] = opaque[at] && t.Alpha == mesh.AlphaIgnored
	}
	for ; side > 0; side /= 2 {
		if images, ok = encodeWithin(sources, opaque, side); ok {
			return images, true
		}
	}
	return nil, false
}

// encodeWithin encodes images with at most side pixels a side. It returns false if they are too
// large.
func encodeWithin(sources []*mesh.Image, opaque []bool, side int) (images []encoded, ok bool) {
	left := maxImages
	for i, source := range sources {
		img, err := encode(source.Within(side), opaque[i])
		if left -= len(img.content); err != nil || left < 0 {
			return nil, false
		}
		images = append(images, img)
	}
	return images, true
}

// encode encodes an image, whose alpha is not used if it is opaque. It chooses PNG if the image has
// alpha, or if that is not larger than JPEG, as it is for drawings and palettes.
func encode(source *mesh.Image, opaque bool) (encoded, error) {
	width, height := source.Size()
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i, c := range source.Pixels() {
		if opaque {
			c |= math.MaxUint8 << 24
		}
		binary.LittleEndian.PutUint32(img.Pix[4*i:], c)
	}
	var asPNG, asJPEG bytes.Buffer
	limit := math.MaxInt
	if img.Opaque() {
		if err := jpeg.Encode(&asJPEG, img, &jpeg.Options{Quality: jpegQuality}); err != nil {
			return encoded{}, err
		}
		limit = asJPEG.Len()
	}
	switch err := png.Encode(&limited{&asPNG, limit}, img); {
	case err == nil:
		return encoded{asPNG.Bytes(), "image/png"}, nil
	case errors.Is(err, errLarger):
		return encoded{asJPEG.Bytes(), "image/jpeg"}, nil
	default:
		return encoded{}, err
	}
}

var errLarger = errors.New("the output is larger than the limit")

// limited fails with errLarger if more than left bytes are written to it.
type limited struct {
	*bytes.Buffer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		return 0, errLarger
	}
	return l.Buffer.Write(b)
}
