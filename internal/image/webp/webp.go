// Package webp decodes WebP images with golang.org/x/image/webp. It corrects the colors of lossy
// images, and decodes the first frame of an animation.
package webp

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"

	"golang.org/x/image/webp"
)

// Decode decodes an image. A lossy image is a *Lossy, others are of the types of the package image.
func Decode(r io.Reader) (image.Image, error) {
	still, err := firstFrame(r)
	if err != nil {
		return nil, err
	}
	img, err := webp.Decode(still)
	switch of := img.(type) {
	case *image.YCbCr:
		return &Lossy{YCbCr: of}, err
	case *image.NYCbCrA:
		return &Lossy{YCbCr: &of.YCbCr, alpha: of.A, alphaStride: of.AStride}, err
	}
	return img, err
}

// DecodeConfig returns the size of the image that Decode returns, and the color model that package
// webp of golang.org/x/image has for it.
func DecodeConfig(r io.Reader) (image.Config, error) {
	still, err := firstFrame(r)
	if err != nil {
		return image.Config{}, err
	}
	return webp.DecodeConfig(still)
}

// The lengths of a header of the file, of a chunk, and of the data of VP8X and of ANMF before its
// chunks (RFC 9649, section 2.7).
const (
	fileHeader  = 12
	chunkHeader = 8
	extended    = 10
	frameHeader = 16
)

// The flags of VP8X.
const (
	animated    = 0x02
	transparent = 0x10
)

var errNoFrame = errors.New("the animation has no frame")

// firstFrame returns the first frame of an animation as a file of its own, and other images
// unchanged.
func firstFrame(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	const flags = fileHeader + chunkHeader
	head, _ := b.Peek(flags + extended)
	if len(head) < flags+extended || string(head[fileHeader:fileHeader+4]) != "VP8X" || head[flags]&animated == 0 {
		return b, nil // package webp returns an error if it is too short
	}
	for at := int64(fileHeader); ; {
		if _, err := io.CopyN(io.Discard, b, at); err != nil {
			return nil, errNoFrame
		}
		head, err := b.Peek(chunkHeader + frameHeader)
		if err != nil {
			return nil, errNoFrame
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		at = chunkHeader + size + size&1
		if string(head[:4]) != "ANMF" || size < frameHeader {
			continue
		}
		// VP8X has the size of the frame, where ANMF has it.
		still := append([]byte("WEBPVP8X"), extended, 0, 0, 0, 0, 0, 0, 0)
		still = append(still, head[chunkHeader+6:chunkHeader+12]...)
		if _, err := b.Discard(chunkHeader + frameHeader); err != nil {
			return nil, err
		}
		if kind, err := b.Peek(4); err == nil && string(kind) == "ALPH" {
			still[len("WEBP")+chunkHeader] = transparent
		}
		total := uint32(int64(len(still)) + size + size&1 - frameHeader)
		riff := binary.LittleEndian.AppendUint32([]byte("RIFF"), total)
		return io.MultiReader(bytes.NewReader(append(riff, still...)), b), nil
	}
}
