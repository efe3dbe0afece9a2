// Package measure measures a mesh: what a person wants to know before printing it, and what tells that two files hold the same shape.
package measure

import (
	"context"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Facts are what is measured of a mesh. All numbers are finite.
type Facts struct {
	Triangles int        // as the file has them, degenerate ones too
	Vertices  int        // places where triangles have corners, each counted once; of a cloud, its points
	Box       mesh.Box   // in the coordinates and unit of the file
	Size      [3]float64 // sides of the box in millimetres
	Area      float64    // square millimetres, of one side of each triangle
	// Volume is in cubic millimetres, and nil where the mesh is not watertight or its faces are not turned the same way. A closed
	// surface inside another that is turned the other way is a cavity, and subtracts.
	Volume *float64
	// Watertight tells that each edge is shared by exactly two faces. As for the next two, corners in the same place are one vertex,
	// and faces with two corners in one place are left out; a face whose three corners are on one line counts, for it closes a seam.
	Watertight bool
	// Manifold tells that no edge has more than two faces, and that the faces around each vertex form one fan: each can be reached from
	// each other over edges at that vertex. The surface may have a border, and may cross itself.
	Manifold bool
	// Components are the parts that share no vertex.
	Components int
	// Fingerprint names the shape, see Descriptor.Fingerprint; Keys find it again. Both are empty where the shape has no area to speak of.
	Fingerprint string
	Keys        []string
	Descriptor  Descriptor
}

// Of measures a mesh. Progress is told the part that is done, from 0 to 1, and may be nil. The only error is that of the context. Time is
// O(n log n) at worst; memory is what Mesh.Weld takes, 4 bytes a corner and 8 bytes a vertex.
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
	plain.Colors = nil // what meets in a place is one vertex, whatever its colours
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
