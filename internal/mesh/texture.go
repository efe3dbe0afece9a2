package mesh

import (
	"math"
	"slices"
)

// MaxPatches is the maximum number of patches of a mesh, about 28 MiB. If there are more textured
// triangles, they are so small in an image that the colors of their vertices look the same.
const MaxPatches = 500_000

// Patch is the part of a texture on one triangle.
type Patch struct {
	Triangle int
	Texture  *Texture
	// UV are the texture coordinates of the corners, in the order of Corners. They may be any number,
	// also NaN. 0, 0 is the upper left corner of the image, 1, 1 the lower right.
	UV [3][2]float32
	// Tint are colors of the corners, which are multiplied by the texture. Opaque white has no effect.
	Tint [3]uint32
}

// Texture is an image and how it is used. Textures can share an image.
//
// Colors of textures are sRGB with straight alpha, with red in the lowest byte.
type Texture struct {
	*Image
	WrapU, WrapV Wrap
	Nearest      bool // pixels are not interpolated
	Alpha        Alpha
	Cutoff       uint8 // for AlphaMask
}

// Wrap is what a texture shows outside of its image.
type Wrap uint8

// The wrapping modes.
const (
	Repeat Wrap = iota
	Mirror
	Clamp
)

// Alpha is how the alpha of a texture is used.
type Alpha uint8

// The uses of alpha.
const (
	AlphaIgnored Alpha = iota
	AlphaMask          // what has less alpha than Cutoff is invisible
	AlphaBlend
)

// Image is the image of a texture.
type Image struct {
	levels []level // the image, then copies of which each has half the width and height
}

type level struct {
	width, height int
	pixels        []uint32
}

// NewImage returns an image of the given size, whose sides must be at least 1. pixels are its rows
// from top to bottom.
func NewImage(width, height int, pixels []uint32) *Image {
	img := &Image{levels: []level{{width, height, pixels}}}
	for last := &img.levels[0]; last.width > 1 || last.height > 1; last = &img.levels[len(img.levels)-1] {
		half := level{width: (last.width + 1) / 2, height: (last.height + 1) / 2}
		half.pixels = make([]uint32, 0, half.width*half.height)
		for y := range half.height {
			above, below := last.pixels[2*y*last.width:], last.pixels[min(2*y+1, last.height-1)*last.width:]
			for x := range half.width {
				left, right := 2*x, min(2*x+1, last.width-1)
				half.pixels = append(half.pixels, Mean(above[left], above[right], below[left], below[right]))
			}
		}
		img.levels = append(img.levels, half)
	}
	return img
}

// Size returns the width and the height of the image in pixels.
func (i *Image) Size() (width, height int) { return i.levels[0].width, i.levels[0].height }

// Pixels returns the pixels of the image, in rows from top to bottom. The caller must not modify
// them.
func (i *Image) Pixels() []uint32 { return i.levels[0].pixels }

// Memory returns the memory that the pixels of the image and of its copies take, in bytes.
func (i *Image) Memory() (bytes int64) {
	for _, l := range i.levels {
		bytes += 4 * int64(len(l.pixels))
	}
	return bytes
}

// Within returns the image, or the largest copy of it that has at most side pixels a side. It
// shares the pixels of the image.
func (i *Image) Within(side int) *Image {
	first := 0
	for first < len(i.levels)-1 && max(i.levels[first].width, i.levels[first].height) > side {
		first++
	}
	return &Image{levels: slices.Clone(i.levels[first:])}
}

// Mean returns the mean of at most 16 colors. They count in proportion to their alpha, so that
// transparent pixels, whose color is often black, do not darken the edges of what is visible.
func Mean(colors ...uint32) (mean uint32) {
	var sums [3]uint32
	alpha, weights := uint32(0), uint32(0)
	for _, c := range colors {
		weight := c>>24<<8 | 1 // the colors of transparent pixels count if all are transparent
		for k := range sums {
			sums[k] += c >> (8 * k) & 255 * weight
		}
		alpha, weights = alpha+c>>24, weights+weight
	}
	for k, sum := range sums {
		mean |= (sum + weights/2) / weights << (8 * k)
	}
	n := uint32(len(colors))
	return mean | (alpha+n/2)/n<<24
}

// At returns the color of the pixel at texture coordinates.
func (t *Texture) At(u, v float64) uint32 {
	l := &t.levels[0]
	x, y := min(int(fold(u, t.WrapU)*float64(l.width)), l.width-1), min(int(fold(v, t.WrapV)*float64(l.height)),
		l.height-1)
	return l.pixels[y*l.width+x]
}

// Level returns the level of detail for Sample where a triangle covers the given numbers of pixels
// of the image and of samples.
func (i *Image) Level(pixels, samples float64) int {
	if !(pixels > samples) { // also NaN
		return 0
	}
	return int(min(math.Log2(pixels/samples)/2+0.5, float64(len(i.levels)-1)))
}

// Sample returns the color at texture coordinates, interpolated between pixels. level is the level
// of detail.
func (t *Texture) Sample(u, v float64, level int) uint32 {
	if t.Nearest && level == 0 {
		return t.At(u, v)
	}
	l := &t.levels[level]
	left, right, x := neighbors(u, t.WrapU, l.width)
	top, bottom, y := neighbors(v, t.WrapV, l.height)
	top, bottom = top*l.width, bottom*l.width
	return between(between(l.pixels[top+left], l.pixels[top+right], x),
		between(l.pixels[bottom+left], l.pixels[bottom+right], x), y)
}

// neighbors returns the pixels whose centers are before and after a texture coordinate, and the
// share of the second one, from 0 to 256.
func neighbors(x float64, how Wrap, pixels int) (before, after int, share uint32) {
	at := fold(x, how)*float64(pixels) - 0.5
	whole := math.Floor(at)
	before, after, share = int(whole), int(whole)+1, uint32((at-whole)*256)
	if before < 0 {
		before = 0
		if how == Repeat {
			before = pixels - 1
		}
	}
	if after >= pixels {
		after = pixels - 1
		if how == Repeat {
			after = 0
		}
	}
	return before, after, share
}

// between interpolates two colors, two channels at a time.
func between(a, b, share uint32) uint32 {
	const even = 0x00FF00FF
	return (a&even*(256-share)+b&even*share)>>8&even | (a>>8&even*(256-share)+b>>8&even*share)&^even
}

// fold maps a texture coordinate to the range from 0 to 1.
func fold(x float64, how Wrap) float64 {
	switch {
	case x >= 0 && x <= 1:
	case math.IsNaN(x) || math.IsInf(x, 0):
		return 0
	case how == Repeat:
		x -= math.Floor(x)
	case how == Mirror:
		if x = math.Mod(math.Abs(x), 2); x > 1 {
			x = 2 - x
		}
	default:
		return max(0, min(1, x))
	}
	return x
}
