// Package measure measures meshes: the size, area, volume and topology that matter for printing,
// and a fingerprint that identifies the same shape in different files.
package measure

import (
	"context"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Facts are the measurements of a mesh. All numbers are finite.
type Facts struct {
	Triangles int        // as in the file, including degenerate ones
	Vertices  int        // distinct positions of triangle corners; for a cloud, its points
	Box       mesh.Box   // in the coordinates and the unit of the file
	Size      [3]float64 // sides of the box in millimeters
	Area      float64    // square millimeters, counting one side of each triangle
	// Volume is in cubic millimeters. It is nil if the mesh is not watertight or its faces are not
	// oriented consistently. A closed surface inside another one with the opposite orientation is a
	// cavity and is subtracted.
	Volume *float64
	// Watertight reports that each edge is shared by exactly two faces. For this and the next two
	// fields, corners at the same position are one vertex, and faces with two corners at the same
	// position are ignored. A face with three collinear corners counts, because it closes a seam.
	Watertight bool
	// Manifold reports that no edge has more than two faces, and that the faces around each vertex
	// form a single fan: each can be reached from any other across edges at that vertex. The
	// surface may have a border and may intersect itself.
	Manifold bool
	// Components is the number of parts that share no vertex.
	Components int
	// Fingerprint identifies the shape, and Keys look it up in an index; see Descriptor. Both are
	// empty if the shape has no area beyond rounding errors.
	Fingerprint string
	Keys        []string
	Descriptor  Descriptor
}

// Of measures a mesh. It calls progress, which may be nil, with values from 0 to 1. The only error
// is that of ctx. The time is O(n log n) in the worst case; the memory is that of Mesh.Weld, 4
// bytes for each corner, and 8 bytes for each vertex.
func Of(ctx context.Context, m *mesh.Mesh, progress func(done float64)) (Facts, error) {
	if progress == nil {
		progress = func(float64) {}
	}
	f := Facts{Triangles: m.Triangles(), Box: m.Box()}
	f.Size = f.Box.Size()
	for i := range f.Size {
		f.Size[i] *= m.Unit
	}
	sums, err := integrate(ctx, m, func(done float64) { progress(0.3 * done) })
	if err != nil {
		return Facts{}, err
	}
	f.Descriptor = sums.descriptor()
	f.Fingerprint, f.Keys = f.Descriptor.Fingerprint(), f.Descriptor.Keys()
	if f.Triangles == 0 {
		f.Vertices = m.Vertices()
		progress(1)
		return f, ctx.Err()
	}
	f.Area = sums.area * m.Unit * m.Unit
	plain := *m
	plain.Colors = nil // vertices at the same position are one, whatever their colors
	welded := plain.Weld()
	progress(0.5)
	f.Vertices = welded.Vertices()
	s, err := survey(ctx, welded, func(done float64) { progress(0.5 + 0.5*done) })
	if err != nil {
		return Facts{}, err
	}
	f.Components = s.components
	f.Manifold = s.faces > 0 && s.crowded == 0 && s.pinched == 0
	f.Watertight = s.faces > 0 && s.crowded == 0 && s.open == 0
	if f.Watertight && s.turned == 0 {
		v := math.Abs(sums.volume) * m.Unit * m.Unit * m.Unit
		f.Volume = &v
	}
	return f, nil
}
