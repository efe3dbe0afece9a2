package geometry

import (
	"math"
)

// guessColor makes a colour of red, green, blue and alpha, which are fractions up to 1, or bytes where one is larger. Alpha is told by
// itself, for some write it so. An alpha that is not a number is opaque, and a colour like that is plain.
func NormalizeColor(c [4]float64) uint32 {
	if math.IsNaN(c[0] + c[1] + c[2]) {
		return NoColor
	}
	const aboveFractions = 1.5 // a little more than 1 is rounding
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

// plain is the colour, red in the lowest byte, of what a file that knows colours gives none.
const NoColor = 0xFFFFFFFF

// rgba makes a colour of red, green, blue and alpha from 0 to 1.
func RGBA(r, g, b, a float64) uint32 {
	return Channel(r) | Channel(g)<<8 | Channel(b)<<16 | Channel(a)<<24
}

func Channel(x float64) uint32 { return uint32(max(0, min(1, x))*255 + 0.5) }
