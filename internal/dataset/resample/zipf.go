package resample

import (
	"math"
	"math/rand/v2"
)

// zipf draws ranks of which the frequency falls with a power of the rank. It takes the sum over the ranks as an integral
// from half a rank before the first to half a rank behind the last, which is off by a few hundredths at the first rank
// and by nothing that matters further on; in return it costs the same at any size.
type zipf struct {
	ranks  int
	least  float64 // of the integral at half a rank before the first
	span   float64
	rooted float64
}

// newZipf is for ranks from 0 up to ranks-1 and a slope, both logarithmic, from 0 to below 1.
func newZipf(ranks int, slope float64) zipf {
	power := 1 - slope
	least := math.Pow(0.5, power)
	return zipf{ranks: ranks, least: least, span: math.Pow(float64(ranks)+0.5, power) - least, rooted: 1 / power}
}

// draw gives a rank from 0 on.
func (z zipf) draw(r *rand.Rand) int {
	rank := int(math.Pow(z.least+z.span*r.Float64(), z.rooted)+0.5) - 1
	return min(max(rank, 0), z.ranks-1)
}
