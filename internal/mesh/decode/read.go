// Package decode makes meshes of files: STL, OBJ, 3MF, PLY, glTF, GLB, OFF and AMF, each from what its specification says and what programs
// write. It trusts nothing that a file says of itself: memory is taken for bytes that are there, and never for a number that was read.
package decode

import (
	"context"
	"math"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Read makes the mesh of a file. Its content decides the format where it can, the ending of its name else. Progress, which may be nil, is
// told how much is done, from 0 to 1 and never less than before. What is wrong with the file is a *mesh.Error; other errors are those of
// the source and of the context, which is asked often. A mesh that is given has a triangle or is a cloud with a point, all its positions
// are finite, all its indices are of its vertices, and it is within the limits.
func Read(ctx context.Context, src Source, limits mesh.Limits, progress func(done float64)) (*mesh.Mesh, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if src.Size > limits.Bytes {
		return nil, mesh.Errorf(mesh.TooLarge, "The file has %d bytes, and meshes are made of at most %d.", src.Size, limits.Bytes)
	}
	format, err := formatOf(src)
	if err != nil {
		return nil, err
	}
	tell := rising(progress)
	m, err := readerOf[format](ctx, src, indexable(limits), tell)
	if err != nil {
		return nil, err
	}
	if err := check(m, title(format), limits); err != nil {
		return nil, err
	}
	switch format {
	case mesh.OBJ, mesh.OFF, mesh.PLY:
		m.Up = upOf(m)
	}
	tell(1)
	return m, nil
}

// readerOf gives what reads a format.
var readerOf = map[mesh.Format]func(context.Context, Source, mesh.Limits, func(float64)) (*mesh.Mesh, error){
	mesh.STL: readSTL, mesh.OBJ: readOBJ, mesh.TMF: read3MF, mesh.PLY: readPLY,
	mesh.GLTF: readGLTF, mesh.GLB: readGLTF, mesh.OFF: readOFF, mesh.AMF: readAMF,
}

// title writes a format as messages do.
func title(f mesh.Format) string {
	if f == mesh.GLTF {
		return "glTF"
	}
	return strings.ToUpper(string(f))
}

// rising makes a report that goes from 0 to 1 and never back of one that readers may call with anything.
func rising(progress func(float64)) func(float64) {
	last := -1.0
	return func(done float64) {
		if done = max(0, min(1, done)); done > last && progress != nil { // not a number is not more
			last = done
			progress(done)
		}
	}
}

// check sees that a mesh holds what Read promises.
func check(m *mesh.Mesh, format string, limits mesh.Limits) error {
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
		if !(math.Abs(o) <= farthest) {
			return tooFar(format)
		}
	}
	if !near(m.Positions) {
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
	return mesh.Errorf(mesh.Malformed, "The %s file has a coordinate that is no number or farther than %g from zero.", format, farthest)
}

// near tells whether all numbers are finite and not farther than farthest from zero.
func near(xs []float32) bool {
	var a, b, c, d uint32
	for ; len(xs) >= 4; xs = xs[4:] {
		a |= beyond(math.Float32bits(xs[0]))
		b |= beyond(math.Float32bits(xs[1]))
		c |= beyond(math.Float32bits(xs[2]))
		d |= beyond(math.Float32bits(xs[3]))
	}
	for _, x := range xs {
		a |= beyond(math.Float32bits(x))
	}
	return (a|b|c|d)&signBit == 0
}

const (
	signBit = 1 << 31
	farBits = 0x5D5E0B6B // of farthest in single precision
)

// beyond sets the highest bit where a number of these bits is farther than farthest from zero, infinite or not a number: the bits without
// the sign grow with the number, and are most where it is not finite. There is no branch in it, for it is asked of every coordinate.
func beyond(bits uint32) uint32 { return bits&^signBit + (signBit - 1 - farBits) }
