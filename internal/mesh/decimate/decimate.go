// Package decimate reduces the number of triangles of a mesh while it keeps its appearance, for
// display.
package decimate

import (
	"context"

	"github.com/meshyard/meshyard/internal/mesh"
)

const (
	// most is the maximum number of triangles for edge collapse. Larger meshes are clustered on a
	// grid first, to limit memory and time.
	most = 2_000_000
	// clustered is roughly how many triangles clustering leaves.
	clustered = 1_000_000
)

// To returns a mesh of at most the given number of triangles, or of points if m is a cloud, with
// nearly the same surface. It returns m itself if that is small enough. It does not modify m. The
// only error is that of ctx. It calls progress, which may be nil, with values from 0 to 1. The
// result is deterministic.
//
// To collapses edges in the order of their quadric error (M. Garland and P. Heckbert, Surface
// simplification using quadric error metrics, 1997). A closed surface stays closed, borders and
// color boundaries stay in place, and no face flips. If that does not suffice, it gives up color
// boundaries, then topology, then the orientation of faces, and finally drops the smallest
// triangles. It first clusters meshes of more than two million triangles (P. Lindstrom, Out-of-core
// simplification of large polygonal models, 2000), which may join parts that are closer than about
// a thousandth of the size.
//
// It needs about 160 bytes for each triangle up to two million, and 200 MB for larger meshes if at
// most a million triangles are wanted.
func To(ctx context.Context, m *mesh.Mesh, triangles int, progress func(done float64)) (*mesh.Mesh, error) {
	if progress == nil {
		progress = func(float64) {}
	}
	triangles = max(triangles, 0)
	if m.Cloud && m.Indices == nil {
		return thin(ctx, m, triangles, progress)
	}
	n := m.Triangles()
	if n <= triangles {
		progress(1)
		return m, ctx.Err()
	}
	f := newFrame(m.Box(), m.Origin)
	var s *surface
	var err error
	share := 0.1
	if goal := max(clustered, triangles+triangles/4); n > most && goal < n {
		share = 0.5
		s, err = cluster(ctx, m, f, goal, triangles, func(done float64) { progress(share * done) })
	} else {
		s, err = weld(ctx, m, f)
		progress(share)
	}
	if err != nil {
		return nil, err
	}
	if err := collapse(ctx, s, triangles, func(done float64) { progress(share + (1-share)*done) }); err != nil {
		return nil, err
	}
	out := s.mesh(m, f)
	progress(1)
	return out, ctx.Err()
}
