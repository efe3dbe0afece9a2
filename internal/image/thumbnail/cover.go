package thumbnail

import "math"

// Box is a box that an image is requested for.
type Box struct {
	Width, Height int  // in pixels; 0: any
	Crop          bool // fill the box, and crop the rest; otherwise fit into it
}

// fullSize is the size of Full.
var fullSize = Size{Width: math.MaxInt32, Height: math.MaxInt32}

// Covering returns the name of the smallest size in which an image of width × height pixels needs
// not be enlarged for the box, and the dimensions of the image in it. If there is none, or the box
// has no dimensions, it returns Full. A box in which only one dimension is given is not filled.
func (b Box) Covering(width, height int) (name string, w, h int) {
	fill := b.Crop && b.Width > 0 && b.Height > 0
	name, w, h = Full, width, height
	if b.Width <= 0 && b.Height <= 0 {
		return name, w, h
	}
	for _, s := range Sizes {
		if s.Crop && !fill {
			continue
		}
		sw, sh := s.Of(width, height)
		wide, high := b.Width > 0 && sw >= b.Width, b.Height > 0 && sh >= b.Height
		// The whole image touches the box in one dimension only.
		covers := fill && wide && high || !fill && (wide || high)
		if covers && (name == Full || sw*sh < w*h) {
			name, w, h = s.String(), sw, sh
		}
	}
	return name, w, h
}
