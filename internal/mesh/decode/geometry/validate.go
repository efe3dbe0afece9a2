package geometry

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// check sees that a mesh holds what Read promises.
func Validate(m *mesh.Mesh, format string, limits mesh.Limits) error {
	vertices, triangles := m.Vertices(), m.Triangles()
	switch {
	case triangles == 0 && !m.Cloud:
		return mesh.Errorf(mesh.Empty, "The %s file is sound but holds no triangle.", format)
	case vertices == 0:
		return mesh.Errorf(mesh.Empty, "The %s file is sound but holds neither a triangle nor a point.", format)
	case int64(triangles) > limits.Triangles:
		return mesh.Errorf(mesh.TooLarge, "The %s file has %d triangles, and at most %d are shown.", format, triangles, limits.Triangles)
	case int64(vertices) > 3*limits.Triangles:
		return mesh.Errorf(mesh.TooLarge, "The %s file has %d points, and at most %d are shown.", format, vertices, 3*limits.Triangles)
	}
	for _, o := range m.Origin {
		if !(math.Abs(o) <= MaxCoordinate) {
			return tooFar(format)
		}
	}
	if !allInRange(m.Positions) {
		return tooFar(format)
	}
	var last uint32
	for _, v := range m.Indices {
		last = max(last, v)
	}
	if m.Indices != nil && int(last) >= vertices {
		return mesh.Errorf(mesh.Malformed, "The %s file has a triangle with vertex %d, counted from 0, where there are %d.", format, last, vertices)
	}
	return nil
}

func tooFar(format string) error {
	return mesh.Errorf(mesh.Malformed, "The %s file has a coordinate that is no number or farther than %g from zero.", format, MaxCoordinate)
}

// near tells whether all numbers are finite and not farther than farthest from zero.
func allInRange(xs []float32) bool {
	var a, b, c, d uint32
	for ; len(xs) >= 4; xs = xs[4:] {
		a |= OutOfRangeBit(math.Float32bits(xs[0]))
		b |= OutOfRangeBit(math.Float32bits(xs[1]))
		c |= OutOfRangeBit(math.Float32bits(xs[2]))
		d |= OutOfRangeBit(math.Float32bits(xs[3]))
	}
	for _, x := range xs {
		a |= OutOfRangeBit(math.Float32bits(x))
	}
	return (a|b|c|d)&signBit == 0
}

const (
	signBit = 1 << 31
	farBits = 0x5D5E0B6B // of farthest in single precision
)

// beyond sets the highest bit where a number of these bits is farther than farthest from zero, infinite or not a number: the bits without
// the sign grow with the number, and are most where it is not finite. There is no branch in it, for it is asked of every coordinate.
func OutOfRangeBit(bits uint32) uint32 { return bits&^signBit + (signBit - 1 - farBits) }
