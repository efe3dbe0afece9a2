package geometry

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// MaxCoordinate is the maximum absolute value of a coordinate. It keeps areas finite in single
// precision, and no real model comes near it.
const MaxCoordinate = 1e18

// Bounds is the bounding box of the vertices read so far, in double precision.
type Bounds struct {
	mesh.Box
	valid bool
}

// Add extends the box to contain p. It returns false if a coordinate is NaN or exceeds
// MaxCoordinate.
func (e *Bounds) Add(p [3]float64) bool {
	if !e.valid {
		e.Min, e.Max, e.valid = p, p, true
	}
	near := true
	for i, x := range p {
		e.Min[i], e.Max[i] = min(e.Min[i], x), max(e.Max[i], x)
		near = near && math.Abs(x) <= MaxCoordinate // false for NaN
	}
	return near
}

// Origin returns the mesh.Mesh.Origin that keeps at least 20 bits of precision in single-precision
// positions: on an axis where the box is 16 times farther from zero than its diagonal, a rounded
// center of the box, otherwise 0.
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
