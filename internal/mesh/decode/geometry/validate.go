package geometry

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Validate checks what decode.Decode guarantees of a mesh: at least one triangle or point, sizes
// within the limits, coordinates in range and indices of existing vertices. format names the file
// format in error messages.
func Validate(m *mesh.Mesh, format string, limits mesh.Limits) error {
	vertices, triangles := m.Vertices(), m.Triangles()
	switch {
	case triangles == 0 && !m.Cloud:
		return mesh.Errorf(mesh.Empty, "The %s file is valid but contains no triangles.", format)
	case vertices == 0:
		return mesh.Errorf(mesh.Empty, "The %s file is valid but contains neither triangles nor points.", format)
	case int64(triangles) > limits.Triangles:
		return mesh.Errorf(mesh.TooLarge, "The %s file has %d triangles, and at most %d are shown.", format, triangles,
			limits.Triangles)
	case int64(vertices) > 3*limits.Triangles:
		return mesh.Errorf(mesh.TooLarge, "The %s file has %d points, and at most %d are shown.", format, vertices,
			3*limits.Triangles)
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
		return mesh.Errorf(mesh.Malformed, "The %s file has a triangle with vertex %d, counted from 0, where there are %d.",
			format, last, vertices)
	}
	return nil
}

func tooFar(format string) error {
	return mesh.Errorf(mesh.Malformed, "The %s file has a coordinate that is not a number or farther than %g from zero.",
		format, MaxCoordinate)
}

// allInRange reports whether all numbers are finite and at most MaxCoordinate in absolute value.
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
	farBits = 0x5D5E0B6B // the bits of MaxCoordinate in single precision
)

// OutOfRangeBit returns a number whose highest bit is set if the float32 with these bits is NaN,
// infinite or exceeds MaxCoordinate in absolute value. The bits without the sign increase with the
// absolute value, and are greatest for infinity and NaN. The function has no branch, because
// decoders call it for every coordinate.
func OutOfRangeBit(bits uint32) uint32 { return bits&^signBit + (signBit - 1 - farBits) }
