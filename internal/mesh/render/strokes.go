package render

import (
	"context"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// thin reports whether almost nothing is drawn: the mesh is a needle, a thread or a single point.
func (r *raster) thin() bool {
	// In one direction a mesh fills the image except the margins. It is visible if it covers four
	// samples of each line across that direction.
	missing := 4 * (1 - 2*margin) * float64(min(r.width, r.height))
	for _, near := range r.near {
		if near > 0 {
			if missing--; missing <= 0 {
				return false
			}
		}
	}
	return true
}

// strokes draws the edges and the vertices of a thin mesh with a wide pen, so that it is visible.
func (r *raster) strokes(ctx context.Context, m *mesh.Mesh, c *camera) error {
	side := float64(min(r.width, r.height))
	pen := max(2, side/200)
	if c.zoom >= maxZoom*side {
		pen = side / 36 // all vertices at the same position
	}
	const most = 1 << 22 // more discs would add nothing visible
	drawn, last := 0, seen{x: -1, y: -1}
	for t := 0; t < m.Triangles() && drawn < most; t++ {
		if t%(1<<12) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		i, j, k := m.Corners(t)
		var corners [3]seen
		for n, v := range [3]uint32{i, j, k} {
			p := m.At(v)
			corners[n] = c.project(float64(p[0]), float64(p[1]), float64(p[2]))
		}
		color := r.colorOf(m, int(i))
		for n, a := range corners {
			b := corners[(n+1)%3]
			steps := math.Ceil(math.Hypot(float64(b.x-a.x), float64(b.y-a.y)) / subsample)
			for s := 0.0; s <= steps; s++ {
				part := s / max(1, steps)
				x, y := float64(a.x)+part*float64(b.x-a.x), float64(a.y)+part*float64(b.y-a.y)
				if at := (seen{x: int32(x) / subsample, y: int32(y) / subsample}); at != last {
					last = at
					drawn++
					filled := r.disc(x/subsample, y/subsample, pen, a.near+float32(part)*(b.near-a.near), color)
					if r.spend(ctx, filled) != nil {
						return nil //nolint:nilerr // enough is drawn
					}
				}
			}
		}
	}
	return nil
}
