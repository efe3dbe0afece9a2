// Package thumbnail decodes uploaded images and scales them to thumbnails. It also finds the
// preview images that slicers embed in G-code.
package thumbnail

import (
	"image"

	"golang.org/x/image/draw"
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
