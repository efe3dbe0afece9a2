package render

import "math"

// direction is a vector in camera space.
type direction struct{ x, y, z float32 }

func vector(v [3]float64) direction { return direction{float32(v[0]), float32(v[1]), float32(v[2])} }

func (d direction) dot(e direction) float32 { return d.x*e.x + d.y*e.y + d.z*e.z }

const (
	// facingBits is the precision of packed directions on each of two axes.
	facingBits = 9
	mostFacing = 1<<facingBits - 1
	// toViewer is the packed direction towards the viewer.
	toViewer = 1 << (2 * facingBits)
)

// pack encodes a direction as its place on the octahedron. The result is never 0. A zero vector
// becomes toViewer.
func (d direction) pack() uint32 {
	l := abs(d.x) + abs(d.y) + abs(d.z)
	if !(l > 0 && l <= math.MaxFloat32) {
		return toViewer
	}
	return d.place(l).pack()
}

// place is a place on the front half of an unfolded octahedron, which is a square.
type place struct{ u, v float32 }

// place returns the place of a direction, flipped towards the viewer. l is the sum of its absolute
// coordinates.
func (d direction) place(l float32) place {
	half := mostFacing / 2.0 / l
	if d.z < 0 {
		half = -half
	}
	return place{(d.x+d.y)*half + mostFacing/2.0, (d.x-d.y)*half + mostFacing/2.0}
}

func (p place) pack() uint32 {
	return toViewer | min(uint32(p.u+0.5), mostFacing)<<facingBits | min(uint32(p.v+0.5), mostFacing)
}

// unpack returns the direction as a unit vector.
func unpack(facing uint32) direction {
	if facing == toViewer {
		return direction{0, 0, 1}
	}
	return unfold(float32(facing>>facingBits&mostFacing), float32(facing&mostFacing))
}

// unfold returns the unit vector at a position on the unfolded octahedron.
func unfold(u, v float32) direction {
	p, q := u*(2.0/mostFacing)-1, v*(2.0/mostFacing)-1
	d := direction{(p + q) / 2, (p - q) / 2, 0}
	d.z = max(1e-6, 1-abs(d.x)-abs(d.y))
	l := 1 / float32(math.Sqrt(float64(d.dot(d))))
	return direction{d.x * l, d.y * l, d.z * l}
}

// average returns the unit vector in the middle of four packed directions, or false if they differ
// by more than about a degree.
func average(a, b, c, d uint32) (direction, bool) {
	const u, v, most = mostFacing << facingBits, mostFacing, 8
	if max(a, b, c, d)&u-min(a, b, c, d)&u > most<<facingBits || max(a&v, b&v, c&v, d&v)-min(a&v, b&v, c&v, d&v) > most ||
		min(a, b, c, d) == toViewer {
		return direction{}, false
	}
	return unfold(float32((a&u+b&u+c&u+d&u)>>facingBits)/4, float32(a&v+b&v+c&v+d&v)/4), true
}

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }
