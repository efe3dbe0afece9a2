package render

import (
	"context"

	"github.com/meshyard/meshyard/internal/mesh"
)

// raster holds for each sample the nearness, the normal and the color of what is visible.
type raster struct {
	width, height int
	near          []float32 // 1 / distance; 0 if nothing is visible
	facing        []uint32  // see pack
	// red in the lowest byte, then green and blue; nil if the mesh has no colors
	color  []uint32
	budget int64 // how many more samples may be filled, see maxFill
	check  int64 // the budget at which the context is checked next
}

func newRaster(width, height int, colored bool) *raster {
	r := &raster{width: width, height: height, near: make([]float32, width*height), facing: make([]uint32, width*height),
		budget: maxFill, check: maxFill}
	if colored {
		r.color = make([]uint32, width*height)
	}
	return r
}

// maxFill is the maximum number of samples that are filled for one image, a second or two of work.
// Real models fill an image of 1200 by 900 pixels a few dozen times, which is less than a fifth of
// it.
const maxFill = 1 << 28

// spend takes work, in samples, from the budget. It returns a *mesh.Error when the budget is spent,
// and the error of the context.
func (r *raster) spend(ctx context.Context, work int) error {
	r.budget -= int64(work)
	switch {
	case r.budget < 0:
		return mesh.Errorf(mesh.TooLarge,
			"The faces of the mesh overlap too much to be drawn: together they fill the image more than %d times.",
			maxFill/(r.width*r.height))
	case r.budget < r.check:
		r.check = r.budget - askEvery
		return ctx.Err()
	}
	return nil
}

// triangles draws all triangles, with both sides, because many models are not closed. It draws
// those of a mesh with normals that face away from the viewer last. Others are too large for a list
// of them.
func (r *raster) triangles(ctx context.Context, m *mesh.Mesh, c *camera, g *ground, progress func(float64)) error {
	total := m.Triangles()
	t := newFace(m, c, g)
	patches := m.Patches
	var backs []back
	if m.Normals != nil {
		backs = make([]back, 0, total/8*5) // in a closed mesh about half of the triangles
	}
	for i := range total {
		if i%(1<<12) == 0 {
			progress(float64(i) / float64(total))
		}
		t.load(i)
		work := 1 + g.add(t, i)
		if m.Normals != nil && t.back() {
			backs = r.later(backs, t, i)
		} else {
			if m.Patches != nil {
				patches = t.texture(patches, i)
			}
			work += r.triangle(t)
		}
		if err := r.spend(ctx, work); err != nil {
			return err
		}
	}
	return r.backs(ctx, t, backs)
}

// triangle draws a triangle and returns the amount of work, in samples. Coordinates are integers,
// so a sample on an edge that two triangles share belongs to at least one of them, and no gap is
// visible.
func (r *raster) triangle(t *face) (work int) {
	a, b, c := &t.seen[0], &t.seen[1], &t.seen[2]
	x0, y0, x1, y1 := t.bounds(r)
	if x0 > x1 || y0 > y1 {
		return 0
	}
	// The edge functions at the first sample are not negative inside, and add up to the area.
	const half = subsample / 2
	px, py := x0*subsample+half, y0*subsample+half
	eA, eB, eC := edge(b, c, px, py), edge(c, a, px, py), edge(a, b, px, py)
	area, turn := eA+eB+eC, int64(subsample)
	if area < 0 {
		area, eA, eB, eC, turn = -area, -eA, -eB, -eC, -turn
	}
	if area == 0 {
		return 1
	}
	scale := 1 / float32(area) // converts edge functions to weights
	if t.patch != nil {
		t.focus(float64(area) / (2 * subsample * subsample))
	}
	nearB, nearC := b.near-a.near, c.near-a.near
	if x0 == x1 && y0 == y1 { // most triangles of large meshes
		if eA|eB|eC >= 0 {
			i := int(y0)*r.width + int(x0)
			wB, wC := float32(eB)*scale, float32(eC)*scale
			if near := a.near + wB*nearB + wC*nearC; near > r.near[i] {
				r.sample(t, i, near, wB, wC)
			}
		}
		return 1
	}
	// Their changes from one sample to the next, and from one row to the next.
	dA, dB, dC := int64(b.y-c.y)*turn, int64(c.y-a.y)*turn, int64(a.y-b.y)*turn
	downA, downB, downC := int64(c.x-b.x)*turn, int64(a.x-c.x)*turn, int64(b.x-a.x)*turn
	first, width, height := int(y0)*r.width+int(x0), int(x1-x0)+1, int(y1-y0)+1
	if width > narrow {
		return r.rows(t, &edges{
			at:     [3]float64{float64(eA), float64(eB), float64(eC)},
			across: [3]float64{float64(dA), float64(dB), float64(dC)},
			down:   [3]float64{float64(downA), float64(downB), float64(downC)},
		}, first, width, height, scale)
	}
	for range height {
		sA, sB, sC := eA, eB, eC
		for i := first; i < first+width; i++ {
			if sA|sB|sC >= 0 {
				wB, wC := float32(sB)*scale, float32(sC)*scale
				if near := a.near + wB*nearB + wC*nearC; near > r.near[i] {
					r.sample(t, i, near, wB, wC)
				}
			}
			sA, sB, sC = sA+dA, sB+dB, sC+dC
		}
		eA, eB, eC = eA+downA, eB+downB, eC+downC
		first += r.width
	}
	return height * (3 + width)
}

// bounds returns the first and the last columns and rows of the samples that may be inside a
// triangle. There are none if the first is after the last.
func (t *face) bounds(r *raster) (x0, y0, x1, y1 int32) {
	a, b, c := &t.seen[0], &t.seen[1], &t.seen[2]
	const half = subsample / 2
	return max((min(a.x, b.x, c.x)+half-1)>>4, 0), max((min(a.y, b.y, c.y)+half-1)>>4, 0),
		min((max(a.x, b.x, c.x)-half)>>4, int32(r.width)-1), min((max(a.y, b.y, c.y)-half)>>4, int32(r.height)-1)
}

// narrow is the width of triangles, in samples, of which testing each sample takes less time than
// computing where each row begins and ends.
const narrow = 3

// edge returns the signed distance of a point from a line, times the length of the line.
func edge(from, to *seen, x, y int32) int64 {
	return int64(to.x-from.x)*int64(y-from.y) - int64(to.y-from.y)*int64(x-from.x)
}

// sample sets a sample to a point of a triangle, unless its texture is transparent there.
func (r *raster) sample(t *face, i int, near, wB, wC float32) {
	if r.color != nil && !r.paint(t, i, near, wB, wC) {
		return
	}
	r.near[i] = near
	r.facing[i] = t.facing(wB, wC)
}

// paint sets the color of a sample. It returns false if the texture is transparent there.
func (r *raster) paint(t *face, i int, near, wB, wC float32) bool {
	if t.patch == nil {
		r.color[i] = t.color(wB, wC)
		return true
	}
	color := t.textured(near, wB, wC)
	if uint8(color>>24) < t.cutoff[i/r.width%samples*samples+i%samples] {
		return false
	}
	r.color[i] = color & 0xFFFFFF
	return true
}
