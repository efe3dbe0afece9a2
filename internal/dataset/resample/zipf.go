package resample

import (
	"math"
	"math/rand/v2"
)

// zipf draws ranks with a frequency that decreases as a power of the rank. It approximates the sum
// over the ranks by an integral, which takes constant time for any number of ranks. The error is a
// few hundredths at the first rank and negligible elsewhere.
type zipf struct {
	ranks  int
	least  float64 // the integral at half a rank before the first
	span   float64
	rooted float64
}

// newZipf returns a distribution over the ranks below ranks. slope is the exponent, from 0 to below
// 1.
func newZipf(ranks int, slope float64) zipf {
	power := 1 - slope
	least := math.Pow(0.5, power)
	return zipf{ranks: ranks, least: least, span: math.Pow(float64(ranks)+0.5, power) - least, rooted: 1 / power}
}

// draw returns a rank, from 0.
func (z zipf) draw(r *rand.Rand) int {
	rank := int(math.Pow(z.least+z.span*r.Float64(), z.rooted)+0.5) - 1
	return min(max(rank, 0), z.ranks-1)
}
