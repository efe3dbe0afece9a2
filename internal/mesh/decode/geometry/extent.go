package geometry

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// farthest is the largest coordinate that is read, so that areas of single precision stay finite. Nothing that is printed comes near it.
const MaxCoordinate = 1e18

// extent is the box of what is being read, in full precision.
type Bounds struct {
	mesh.Box
	valid bool
}

// add widens the box to hold p, and tells whether p is near enough to be shown.
func (e *Bounds) Add(p [3]float64) bool {
	if !e.valid {
		e.Min, e.Max, e.valid = p, p, true
	}
	near := true
	for i, x := range p {
		e.Min[i], e.Max[i] = min(e.Min[i], x), max(e.Max[i], x)
		near = near && math.Abs(x) <= MaxCoordinate // not a number is neither
	}
	return near
}

// origin gives the Mesh.Origin that lets single precision keep at least 20 bits of the box: on an axis where the box is 16 times farther
// from zero than it is wide, a round number in its middle, else zero.
func (e *Bounds) Origin() (o [3]float64) {
	width := e.Diagonal()
	for i := range o {
		if far := max(math.Abs(e.Min[i]), math.Abs(e.Max[i])); far <= 16*width {
			continue
		}
		o[i] = (e.Min[i] + e.Max[i]) / 2
		if width > 0 {
			_, exponent := math.Frexp(width)
			step := math.Ldexp(0.5, exponent)
			o[i] = math.Round(o[i]/step) * step
		}
	}
	return o
}
