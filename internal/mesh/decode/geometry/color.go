package geometry

import (
	"math"
)

// NormalizeColor packs red, green, blue and alpha, which are fractions from 0 to 1, or bytes if one
// of red, green and blue is greater than 1. The scale of alpha is decided separately, because some
// programs mix the two. An alpha of NaN is opaque; a NaN in another channel yields NoColor.
func NormalizeColor(c [4]float64) uint32 {
	if math.IsNaN(c[0] + c[1] + c[2]) {
		return NoColor
	}
	const aboveFractions = 1.5 // slightly more than 1 is a rounding error
	scale, alpha := 1.0, 1.0
	if max(c[0], c[1], c[2]) > aboveFractions {
		scale = 255
	}
	if c[3] <= aboveFractions {
		alpha = c[3]
	} else if c[3] > aboveFractions {
		alpha = c[3] / 255
	}
	return RGBA(c[0]/scale, c[1]/scale, c[2]/scale, alpha)
}

// NoColor is the color of vertices without a color in files that have colors: opaque white. Red
// is in the lowest byte.
const NoColor = 0xFFFFFFFF

// RGBA packs red, green, blue and alpha from 0 to 1 into a color with red in the lowest byte.
func RGBA(r, g, b, a float64) uint32 {
	return Channel(r) | Channel(g)<<8 | Channel(b)<<16 | Channel(a)<<24
}

// Channel converts a channel from 0 to 1 to a byte. It clamps values out of range.
func Channel(x float64) uint32 { return uint32(max(0, min(1, x))*255 + 0.5) }
