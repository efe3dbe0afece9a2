package render

import (
	"context"

	"github.com/meshyard/meshyard/internal/mesh"
)

// thin is the part of the samples below which a mesh is so thin that its edges are drawn, lest nothing be seen of it.
const thin = 0.002

// lines draws the edges of all triangles, a pixel wide, facing the viewer, where so little is seen of them.
func (r *raster) lines(ctx context.Context, m *mesh.Mesh, c *camera) error {
	seen := 0
	for _, near := range r.near {
		if near > 0 {
			seen++
		}
	}
	if float64(seen) > thin*float64(len(r.near)) {
		return nil
	}
	for t := range m.Triangles() {
		if t%askEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		i, j, k := m.Corners(t)
		for _, ends := range [3][2]uint32{{i, j}, {j, k}, {k, i}} {
			r.line(m, c, ends[0], ends[1])
		}
	}
	return nil
}

// line draws discs along an edge.
func (r *raster) line(m *mesh.Mesh, c *camera, from, to uint32) {
	a, b := c.project(c.view(m.Positions[3*from:3*from+3])), c.project(c.view(m.Positions[3*to:3*to+3]))
	var color uint32
	if r.color != nil {
		p := m.Colors[4*from : 4*from+3]
		color = uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16
	}
	steps := max(1, max(abs(b.x-a.x), abs(b.y-a.y))/subsample)
	for s := range steps + 1 {
		at := float64(s) / float64(steps)
		x, y := float64(a.x)+at*float64(b.x-a.x), float64(a.y)+at*float64(b.y-a.y)
		r.disc(x/subsample, y/subsample, samples*0.6, a.near+float32(at)*(b.near-a.near), color)
	}
}

func abs(x int32) int32 { return max(x, -x) }
