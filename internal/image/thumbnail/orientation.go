package thumbnail

import (
	"image"

	"github.com/meshyard/meshyard/internal/image/imagemeta"
)

// upright rotates and mirrors an image so that it is upright.
func upright(from *image.RGBA, o imagemeta.Orientation) *image.RGBA {
	if o <= imagemeta.Upright || o > 8 {
		return from
	}
	w, h := from.Rect.Dx(), from.Rect.Dy()
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	if turned(o) {
		to = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			u, v := x, y
			switch o {
			case 2:
				u = w - 1 - x
			case 3:
				u, v = w-1-x, h-1-y
			case 4:
				v = h - 1 - y
			case 5:
				u, v = y, x
			case 6:
				u, v = h-1-y, x
			case 7:
				u, v = h-1-y, w-1-x
			case 8:
				u, v = y, w-1-x
			}
			copy(to.Pix[to.PixOffset(u, v):][:4], from.Pix[from.PixOffset(x, y):][:4])
		}
	}
	return to
}

// turned reports whether width and height change places.
func turned(o imagemeta.Orientation) bool { return o >= 5 && o <= 8 }
