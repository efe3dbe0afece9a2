// Package decimate makes meshes smaller for those who only look at them: fewer triangles with nearly the same surface.
package decimate

import (
	"context"

	"github.com/meshyard/meshyard/internal/mesh"
)

const (
	// most is how many triangles are collapsed edge by edge. Larger meshes are clustered on a grid first, for memory and time.
	most = 2_000_000
	// clustered is about how many triangles clustering leaves.
	clustered = 1_000_000
)

// To gives a mesh of at most so many triangles, or points where m is a cloud, with nearly the same surface. A mesh that has no more is given
// back as it is. The given mesh is not changed. The only error is that of the context; progress is told the part that is done, from 0 to
// 1, and may be nil. The same mesh gives the same result.
//
// Edges are collapsed in the order of the error that this makes, by quadric error metrics (M. Garland and P. Heckbert, Surface
// simplification using quadric error metrics, 1997). A closed surface stays closed, borders and lines between colours stay where they are,
// and no face turns over. What cannot be made that small in this way gives up lines between colours, then what keeps it apart or open, then
// the sides of its faces, and at last its smallest triangles. Meshes of more than two million triangles are clustered first (P. Lindstrom,
// Out-of-core simplification of large polygonal models, 2000), which may join what is closer than about a thousandth of the size.
//
// It takes about 160 bytes for each triangle up to two million, and 200 MB beyond where no more than a million are wanted.
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
