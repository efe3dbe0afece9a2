package webp

import (
	"image"
	"image/color"
)

// Lossy is a lossy image. Its samples have the limited range of ITU-R BT.601, from 16 to 235 and
// 240, as RFC 6386 (section 9.2) and all browsers have it. The package image takes all YCbCr colors
// for those of JPEG, which have the full range.
type Lossy struct {
	*image.YCbCr
	alpha       []byte // nil: the image is opaque
	alphaStride int
}

// ColorModel returns the model of the colors of At.
func (l *Lossy) ColorModel() color.Model { return color.NRGBAModel }

// At returns the color of a pixel.
func (l *Lossy) At(x, y int) color.Color { return l.NRGBAAt(x, y) }

// RGBA64At returns the color of a pixel.
func (l *Lossy) RGBA64At(x, y int) color.RGBA64 {
	r, g, b, a := l.NRGBAAt(x, y).RGBA()
	return color.RGBA64{R: uint16(r), G: uint16(g), B: uint16(b), A: uint16(a)}
}

// NRGBAAt returns the color of a pixel.
func (l *Lossy) NRGBAAt(x, y int) color.NRGBA {
	if !(image.Point{X: x, Y: y}).In(l.Rect) {
		return color.NRGBA{}
	}
	c := l.COffset(x, y)
	r, g, b := rgb(l.Y[l.YOffset(x, y)], l.Cb[c], l.Cr[c])
	a := uint8(255)
	if l.alpha != nil {
		a = l.alpha[(y-l.Rect.Min.Y)*l.alphaStride+x-l.Rect.Min.X]
	}
	return color.NRGBA{R: r, G: g, B: b, A: a}
}

// Opaque reports whether all pixels are opaque.
func (l *Lossy) Opaque() bool {
	for _, a := range l.alpha {
		if a != 255 {
			return false
		}
	}
	return true
}

// SubImage returns a part of the image.
func (l *Lossy) SubImage(r image.Rectangle) image.Image {
	part := *l
	part.YCbCr = l.YCbCr.SubImage(r).(*image.YCbCr)
	if at := part.Rect.Min.Sub(l.Rect.Min); l.alpha != nil && !part.Rect.Empty() {
		part.alpha = l.alpha[at.Y*l.alphaStride+at.X:]
	}
	return &part
}

// rgb converts a color with the coefficients of BT.601 in 1/65536.
func rgb(y, cb, cr uint8) (r, g, b uint8) {
	luma := (int32(y)-16)*76309 + 1<<15
	u, v := int32(cb)-128, int32(cr)-128
	return clamp(luma + 104597*v), clamp(luma - 53279*v - 25675*u), clamp(luma + 132201*u)
}

func clamp(n int32) uint8 { return uint8(max(0, min(255, n>>16))) }
