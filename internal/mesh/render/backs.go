package render

import (
	"context"
	"math"
)

// back is a triangle that faces away from the viewer. A closed body hides all of them, so they are
// drawn after the other triangles, and only where those do not hide them.
type back struct {
	triangle       uint32
	near           float32 // that of its nearest corner
	x0, y0, x1, y1 uint16  // its first and last samples
}

// back reports whether the triangle faces away from the viewer.
func (t *face) back() bool { return edge(&t.seen[0], &t.seen[1], t.seen[2].x, t.seen[2].y) > 0 }

// later appends the triangle, which is the i-th, if it has samples.
func (r *raster) later(backs []back, t *face, i int) []back {
	x0, y0, x1, y1 := t.bounds(r)
	if x0 > x1 || y0 > y1 {
		return backs
	}
	near := max(t.seen[0].near, t.seen[1].near, t.seen[2].near)
	return append(backs, back{uint32(i), near, uint16(x0), uint16(y0), uint16(x1), uint16(y1)})
}

// tile is the width and height, in samples, of the parts of the image whose farthest samples are
// compared with a back.
const tile = 8

// backs draws those of the given triangles that are not hidden.
func (r *raster) backs(ctx context.Context, t *face, backs []back) error {
	columns := (r.width + tile - 1) / tile
	farthest := r.farthest(columns)
	patches := t.mesh.Patches
	for i := range backs {
		b := &backs[i]
		hidden, work := b.hidden(farthest, columns)
		if !hidden {
			t.load(int(b.triangle))
			if t.mesh.Patches != nil {
				patches = t.texture(patches, int(b.triangle))
			}
			work += r.triangle(t)
		}
		if err := r.spend(ctx, work); err != nil {
			return err
		}
	}
	return nil
}

// hidden reports whether no sample of the triangle is visible, and returns the amount of work, in
// samples. It may return false for a hidden triangle.
func (b *back) hidden(farthest []float32, columns int) (hidden bool, work int) {
	const rounding = 1 + 1e-5 // more than the errors of interpolation
	near := b.near * rounding
	for y := int(b.y0) / tile; y <= int(b.y1)/tile; y++ {
		for _, far := range farthest[y*columns+int(b.x0)/tile : y*columns+int(b.x1)/tile+1] {
			if far < near {
				return false, work
			}
			work++
		}
	}
	return true, work
}

// farthest returns the least nearness of the samples in each tile.
func (r *raster) farthest(columns int) []float32 {
	all := make([]float32, 0, columns*((r.height+tile-1)/tile))
	for y := 0; y < r.height; y += tile {
		for x := 0; x < r.width; x += tile {
			far := math.Float32bits(r.near[y*r.width+x]) // ordered as the numbers, which are positive
			for j := y; j < min(y+tile, r.height) && far > 0; j++ {
				for _, near := range r.near[j*r.width+x : j*r.width+min(x+tile, r.width)] {
					far = min(far, math.Float32bits(near))
				}
			}
			all = append(all, math.Float32frombits(far))
		}
	}
	return all
}
