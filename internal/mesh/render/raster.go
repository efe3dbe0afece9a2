package render

import (
	"context"

	"github.com/meshyard/meshyard/internal/mesh"
)

// raster holds for each sample the nearness, the normal and the colour of what is visible.
type raster struct {
	width, height int
	near          []float32 // 1 / distance; 0 if nothing is visible
	facing        []uint32  // see pack
	// red in the lowest byte, then green and blue; nil if the mesh has no colours
	color  []uint32
	budget int64 // how many more samples may be filled, see maxFill
}

func newRaster(width, height int, colored bool) *raster {
	r := &raster{width: width, height: height, near: make([]float32, width*height), facing: make([]uint32, width*height), budget: maxFill}
	if colored {
		r.color = make([]uint32, width*height)
	}
	return r
}

// maxFill is how many samples are filled at most for one image, a second or two of work. Real
// models fill an image of 1200 by 900 pixels a few dozen times, which is less than a fifth of it.
const maxFill = 1 << 28

// spend takes work, in samples, from the budget. It returns a *mesh.Error when the budget is spent.
func (r *raster) spend(work int) error {
	if r.budget -= int64(work); r.budget < 0 {
		return mesh.Errorf(mesh.TooLarge,
			"The faces of the mesh overlap too much to be drawn: together they fill the image more than %d times.",
			maxFill/(r.width*r.height))
	}
	return nil
}

// triangles draws all triangles, with both sides, because many models are not closed.
func (r *raster) triangles(ctx context.Context, m *mesh.Mesh, c *camera, g *ground, progress func(float64)) error {
	total := m.Triangles()
	t := &face{mesh: m, camera: c}
	work := askEvery // checks the context before the first triangle
	for i := range total {
		if work++; work >= askEvery {
			work = 0
			if err := ctx.Err(); err != nil {
				return err
			}
			progress(float64(i) / float64(total))
		}
		t.set(i)
		filled := r.triangle(t) + g.add(t, i)
		if err := r.spend(filled); err != nil {
			return err
		}
		work += filled
	}
	return nil
}

// triangle draws a triangle and returns the amount of work, in samples. Coordinates are integers,
// so a sample on an edge that two triangles share belongs to at least one of them, and no gap is
// visible.
func (r *raster) triangle(t *face) (work int) {
	a, b, c := &t.seen[0], &t.seen[1], &t.seen[2]
	// The samples whose centres may be inside.
	const half = subsample / 2
	x0, x1 := max((min(a.x, b.x, c.x)+half-1)>>4, 0), min((max(a.x, b.x, c.x)-half)>>4, int32(r.width)-1)
	y0, y1 := max((min(a.y, b.y, c.y)+half-1)>>4, 0), min((max(a.y, b.y, c.y)-half)>>4, int32(r.height)-1)
	if x0 > x1 || y0 > y1 {
		return 0
	}
	px, py := x0*subsample+half, y0*subsample+half
	eA, eB, eC := edge(b, c, px, py), edge(c, a, px, py), edge(a, b, px, py)
	area := eA + eB + eC
	if x0 == x1 && y0 == y1 {
		r.speck(t, int(y0)*r.width+int(x0), eA, eB, eC)
		return 1
	}
	if area == 0 {
		return 0
	}
	s := span{
		face: t, scale: 1 / float32(area),
		at: [3]int64{eA, eB, eC},
		dx: [3]int64{int64(b.y-c.y) * subsample, int64(c.y-a.y) * subsample, int64(a.y-b.y) * subsample},
		dy: [3]int64{int64(c.x-b.x) * subsample, int64(a.x-c.x) * subsample, int64(b.x-a.x) * subsample},
	}
	if area < 0 {
		s.turn()
	}
	for y := y0; y <= y1; y++ {
		from, to := 0, int(x1-x0)
		if to >= 8 {
			from, to = s.inside(to)
		}
		r.span(&s, int(y)*r.width+int(x0), from, to)
		for k := range s.at {
			s.at[k] += s.dy[k]
		}
		work += 4 + max(0, to-from)
	}
	return work
}

// edge returns the signed distance of a point from a line, times the length of the line.
func edge(from, to *seen, x, y int32) int64 {
	return int64(to.x-from.x)*int64(y-from.y) - int64(to.y-from.y)*int64(x-from.x)
}

// speck draws a triangle that covers at most one sample, given the edge functions of the sample.
// Most triangles of large meshes are such.
func (r *raster) speck(t *face, i int, eA, eB, eC int64) {
	area := eA + eB + eC
	if area < 0 {
		eA, eB, eC = -eA, -eB, -eC
	}
	if eA|eB|eC < 0 || area == 0 {
		return
	}
	scale := 1 / float32(eA+eB+eC)
	wB, wC := float32(eB)*scale, float32(eC)*scale
	near := t.near(wB, wC)
	if near <= r.near[i] {
		return
	}
	r.near[i] = near
	r.facing[i] = t.facing(wB, wC)
	if r.color != nil {
		r.color[i] = t.color(wB, wC)
	}
}

// span describes the samples of a triangle: the edge functions at the first sample of a row, and
// their change from one sample to the next and from one row to the next. They are not negative
// inside.
type span struct {
	*face
	at, dx, dy [3]int64
	scale      float32 // converts edge functions to weights
}

// turn negates the edge functions.
func (s *span) turn() {
	for k := range s.at {
		s.at[k], s.dx[k], s.dy[k] = -s.at[k], -s.dx[k], -s.dy[k]
	}
	s.scale = -s.scale
}

// inside returns the first and the last sample of a row that are inside all edges, from 0 to last.
func (s *span) inside(last int) (from, to int) {
	low, high := int64(0), int64(last)
	for k, at := range s.at {
		switch dx := s.dx[k]; {
		case dx > 0 && at < 0:
			low = max(low, (-at+dx-1)/dx)
		case dx <= 0 && at < 0:
			return 0, -1
		case dx < 0 && at < -dx*high:
			high = min(high, at/-dx)
		}
	}
	return int(low), int(high)
}

// span draws the samples of a row.
func (r *raster) span(s *span, i, from, to int) {
	eA, eB, eC := s.at[0]+int64(from)*s.dx[0], s.at[1]+int64(from)*s.dx[1], s.at[2]+int64(from)*s.dx[2]
	dA, dB, dC := s.dx[0], s.dx[1], s.dx[2]
	for i += from; from <= to; from++ {
		if eA|eB|eC >= 0 {
			wB, wC := float32(eB)*s.scale, float32(eC)*s.scale
			if near := s.near(wB, wC); near > r.near[i] {
				r.near[i] = near
				r.facing[i] = s.facing(wB, wC)
				if r.color != nil {
					r.color[i] = s.color(wB, wC)
				}
			}
		}
		i++
		eA, eB, eC = eA+dA, eB+dB, eC+dC
	}
}
