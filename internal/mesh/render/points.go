package render

import (
	"context"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// points draws the vertices of a cloud as discs that face the viewer, larger if there are fewer.
func (r *raster) points(ctx context.Context, m *mesh.Mesh, c *camera, g *ground, progress func(float64)) error {
	total := m.Vertices()
	radius := math.Sqrt(float64(r.width*r.height) / float64(max(total, 1)) / 12)
	radius = min(max(radius, 1.2), float64(min(r.width, r.height))/36)
	for v := range total {
		if v%(1<<12) == 0 {
			progress(float64(v) / float64(total))
		}
		x, y, z := float64(m.Positions[3*v]), float64(m.Positions[3*v+1]), float64(m.Positions[3*v+2])
		p := c.project(x, y, z)
		g.dot(g.above(x, y, z))
		filled := r.disc(float64(p.x)/subsample, float64(p.y)/subsample, radius*float64(p.near)*c.distance, p.near,
			r.colorOf(m, v))
		if err := r.spend(ctx, filled); err != nil {
			return err
		}
	}
	return nil
}

func (r *raster) colorOf(m *mesh.Mesh, v int) uint32 {
	if r.color == nil {
		return 0
	}
	q := m.Colors[4*v : 4*v+3]
	return uint32(q[0]) | uint32(q[1])<<8 | uint32(q[2])<<16
}

// disc draws a disc, shaded like a sphere. It returns the amount of work, in samples.
func (r *raster) disc(x, y, radius float64, near float32, color uint32) (work int) {
	top, bottom := max(0, int(y-radius)), min(r.height-1, int(y+radius))
	left, right := max(0, int(x-radius)), min(r.width-1, int(x+radius))
	for j := top; j <= bottom; j++ {
		for i := left; i <= right; i++ {
			dx, dy := (float64(i)+0.5-x)/radius, (float64(j)+0.5-y)/radius
			d := 1 - dx*dx - dy*dy
			k := j*r.width + i
			if d < 0 || near <= r.near[k] {
				continue
			}
			r.near[k] = near
			r.facing[k] = direction{float32(dx), float32(-dy), float32(math.Sqrt(d)) + 0.2}.pack()
			if r.color != nil {
				r.color[k] = color
			}
		}
	}
	return max(0, bottom-top+1) * max(0, right-left+1)
}
