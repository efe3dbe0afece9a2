// Package thumbnail decodes uploaded images and scales them to thumbnails. It also finds the
// preview images that slicers embed in G-code.
package thumbnail

import (
	"image"
	"runtime"

	"golang.org/x/image/draw"

	"github.com/meshyard/meshyard/internal/image/webp"
)

// Scale scales an image to a size. If the size must be filled, it crops the image to its center.
func Scale(img image.Image, s Size) image.Image {
	from := img.Bounds()
	width, height := s.Of(from.Dx(), from.Dy())
	if s.Crop {
		if w := from.Dy() * width / height; w < from.Dx() {
			from.Min.X += (from.Dx() - w) / 2
			from.Max.X = from.Min.X + max(1, w)
		} else if h := from.Dx() * height / width; h < from.Dy() {
			from.Min.Y += (from.Dy() - h) / 2
			from.Max.Y = from.Min.Y + max(1, h)
		}
	}
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.CatmullRom.Scale(to, to.Bounds(), img, from, draw.Src, nil)
	return to
}

// largeImage is the number of pixels of an image whose memory is freed before more is allocated.
const largeImage = 10_000_000

// shrink scales an image of any size to fit into a size that does not crop. Scale takes much memory
// for a large image, so it first takes the means of squares of pixels, a few rows at a time.
func shrink(img image.Image, s Size) *image.RGBA {
	b := img.Bounds()
	w, h := s.Of(b.Dx(), b.Dy())
	means := reduce(img, max(1, min(b.Dx()/w, b.Dy()/h)))
	if means.Bounds().Size() == image.Pt(w, h) {
		return means
	}
	if b.Dx()*b.Dy() > largeImage {
		runtime.GC() // frees img, because the collector would start only after the next allocation
	}
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(to, to.Bounds(), means, means.Bounds(), draw.Src, nil)
	return to
}

// reduce returns an image of which each pixel is the mean of a square with sides of n pixels. Those
// at the right and at the bottom can be incomplete.
func reduce(img image.Image, n int) *image.RGBA {
	b := img.Bounds()
	to := image.NewRGBA(image.Rect(0, 0, (b.Dx()+n-1)/n, (b.Dy()+n-1)/n))
	rows := image.NewRGBA(image.Rect(0, 0, b.Dx(), min(n, b.Dy())))
	for y := range to.Rect.Dy() {
		rows.Rect.Max.Y = min(n, b.Dy()-y*n)
		convert(rows, img, image.Pt(b.Min.X, b.Min.Y+y*n))
		if n == 1 {
			copy(to.Pix[to.PixOffset(0, y):], rows.Pix)
			continue
		}
		for x := range to.Rect.Dx() {
			copy(to.Pix[to.PixOffset(x, y):], mean(rows, x*n, min(n, b.Dx()-x*n)))
		}
	}
	return to
}

// mean returns the mean color of some columns.
func mean(rows *image.RGBA, x, columns int) []byte {
	var sum [4]uint32 // of at most 2²⁴ pixels
	for y := range rows.Rect.Dy() {
		pixels := rows.Pix[rows.PixOffset(x, y):][:4*columns]
		for ; len(pixels) >= 4; pixels = pixels[4:] {
			sum[0] += uint32(pixels[0])
			sum[1] += uint32(pixels[1])
			sum[2] += uint32(pixels[2])
			sum[3] += uint32(pixels[3])
		}
	}
	count := uint32(columns * rows.Rect.Dy())
	var color [4]byte
	for i := range sum {
		color[i] = uint8((sum[i] + count/2) / count)
	}
	return color[:]
}

// convert converts the part of an image at a point to RGBA.
func convert(to *image.RGBA, img image.Image, at image.Point) {
	lossy, ok := img.(*webp.Lossy)
	if !ok {
		draw.Draw(to, to.Rect, img, at, draw.Src)
		return
	}
	for y := range to.Rect.Dy() {
		row := to.Pix[to.PixOffset(0, y):]
		for x := range to.Rect.Dx() {
			c := lossy.NRGBAAt(at.X+x, at.Y+y)
			if c.A != 255 {
				a := uint32(c.A)
				c.R, c.G, c.B = uint8(uint32(c.R)*a/255), uint8(uint32(c.G)*a/255), uint8(uint32(c.B)*a/255)
			}
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = c.R, c.G, c.B, c.A
		}
	}
}
