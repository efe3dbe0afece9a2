package render

import "math"

// ground is the floor below the mesh, with the shadow of the mesh as under an overcast sky.
type ground struct {
	c *camera
	// Two directions on the floor, in camera space.
	along, across [3]float64
	// Linear functions of a position of the mesh: its coordinates on the grid, and its height above
	// the floor.
	u, v, height row
	low          []float32 // for each cell the height of the lowest point above it
	shade        []float32 // for each cell its darkness from 0 to 1, after soften
}

const (
	cells  = 128 // of the grid, on each side
	spread = 1.9 // half of the side of the grid in camera space
	cell   = 2 * spread / cells
)

func newGround(c *camera) *ground {
	// Any two directions perpendicular to up.
	along := unit(cross(c.up, [3]float64{0, 0, 1}))
	g := &ground{c: c, along: along, across: cross(c.up, along), low: make([]float32, cells*cells)}
	for i := range g.low {
		g.low[i] = math.MaxFloat32
	}
	g.u, g.v, g.height = c.toView.along(g.along), c.toView.along(g.across), c.toView.along(c.up)
	for i := range g.u {
		g.u[i], g.v[i] = g.u[i]/cell, g.v[i]/cell
	}
	g.u[3], g.v[3], g.height[3] = g.u[3]+cells/2, g.v[3]+cells/2, g.height[3]-c.floor
	return g
}

// above is a position over the ground: its place on the grid, in parts of a cell, and its height
// above the floor.
type above struct {
	u, v   int32
	height float32
}

// parts is the number of parts of a cell in each direction.
const parts = 256

func (g *ground) above(x, y, z float64) above {
	return above{int32(g.u.of(x, y, z) * parts), int32(g.v.of(x, y, z) * parts), float32(g.height.of(x, y, z))}
}

// between returns the middle of two positions.
func (p above) between(q above) above {
	return above{(p.u + q.u) / 2, (p.v + q.v) / 2, (p.height + q.height) / 2}
}

// dot casts the shadow of a position on the cell below it.
func (g *ground) dot(p above) {
	i, j := int(p.u/parts), int(p.v/parts)
	if uint(i) >= cells || uint(j) >= cells {
		return // unreachable: the grid contains the mesh
	}
	if k := j*cells + i; p.height < g.low[k] {
		g.low[k] = p.height
	}
}

// add casts the shadow of triangle i and returns the amount of work. If the mesh has normals, its
// vertices have already cast theirs, which is enough for triangles of the size of a cell. Larger
// ones need points between them. Of small triangles of other meshes, many of which are above one
// cell, it uses one corner of every fourth.
func (g *ground) add(t *face, i int) (work int) {
	if t.vertices == nil && t.small() {
		if i%4 == 0 {
			g.dot(t.above(g, 0))
		}
		return 0
	}
	a, b, c := t.above(g, 0), t.above(g, 1), t.above(g, 2)
	u0, u1, v0, v1 := min(a.u, b.u, c.u), max(a.u, b.u, c.u), min(a.v, b.v, c.v), max(a.v, b.v, c.v)
	if wide := max(u1-u0, v1-v0); t.vertices != nil && wide <= 2*parts {
		if wide > parts {
			g.dot(a.between(b))
			g.dot(b.between(c))
			g.dot(c.between(a))
		}
		return 0
	}
	return g.fill([3]above{a, b, c})
}

// fill casts the shadow of a triangle on all cells below it, at its mean height, and returns the
// amount of work.
func (g *ground) fill(corners [3]above) (work int) {
	var p [3]struct{ u, v float64 } // in cells
	var height float32
	for k, c := range corners {
		p[k].u, p[k].v = float64(c.u)/parts, float64(c.v)/parts
		height += c.height / 3
	}
	i0, i1 := max(0, int(min(p[0].u, p[1].u, p[2].u))), min(cells-1, int(max(p[0].u, p[1].u, p[2].u)))
	j0, j1 := max(0, int(min(p[0].v, p[1].v, p[2].v))), min(cells-1, int(max(p[0].v, p[1].v, p[2].v)))
	// A cell is below the triangle if its center is, with a small margin: inside each edge, a·x +
	// b·y + c ≥ 0.
	area := (p[1].u-p[0].u)*(p[2].v-p[0].v) - (p[1].v-p[0].v)*(p[2].u-p[0].u)
	turned := math.Copysign(1, area)
	var sides [3]struct{ a, b, v, c, margin float64 }
	for k, from := range p {
		s, to := &sides[k], &p[(k+1)%3]
		s.a, s.b, s.v = -(to.v-from.v)*turned, (to.u-from.u)*turned, from.v
		s.c, s.margin = s.a*(0.5-from.u), 0.7*(math.Abs(s.a)+math.Abs(s.b))
	}
	for j := j0; j <= j1; j++ {
		low, high := float64(i0), float64(i1)
		for k := range sides {
			s := &sides[k]
			a, rest := s.a, s.b*(float64(j)+0.5-s.v)+s.c+s.margin // for cell 0
			// Most edges do not cut the row, and need no division. certain is more than rounding
			// errors.
			const certain = 1e-6
			switch {
			case a > 0:
				if !(rest+a*low > certain) {
					low = max(low, math.Ceil(-rest/a))
				}
			case a < 0:
				if !(rest+a*high > certain) {
					high = min(high, math.Floor(-rest/a))
				}
			case rest < 0:
				high = -1
			}
		}
		for i := int(low); i <= int(high); i++ {
			g.low[j*cells+i] = min(g.low[j*cells+i], height)
		}
		work += 16
	}
	return work
}

// soften converts heights to darkness and blurs it with three box filters, which approximates a
// Gaussian.
func (g *ground) soften() {
	g.shade = make([]float32, cells*cells)
	for i, height := range g.low {
		if height < math.MaxFloat32 {
			g.shade[i] = 1 / (1 + 1.5*max(0, height))
		}
	}
	const reach = 5
	line := make([]float32, cells)
	blur := func(first, step int) {
		var total float32
		for i := range line {
			line[i] = g.shade[first+i*step]
		}
		for i := -reach; i < cells; i++ {
			if in := i + reach; in < cells {
				total += line[in]
			}
			if out := i - reach - 1; out >= 0 {
				total -= line[out]
			}
			if i >= 0 {
				g.shade[first+i*step] = max(0, total/(2*reach+1))
			}
		}
	}
	for range 3 {
		for i := range cells {
			blur(i*cells, 1)
			blur(i, cells)
		}
	}
}

// line is where a row of samples shows the floor: the place on the grid at x = 0 and its change to
// the next sample. It is constant because the horizon is level.
type line struct {
	below              bool // the horizon
	u, v, uStep, vStep float64
}

// line returns where the row at y shows the floor.
func (g *ground) line(y float64) line {
	c := g.c
	// The ray through x = 0, from the viewer at (0, 0, distance).
	ray := [3]float64{-c.shiftX / c.zoom, (c.shiftY - y) / c.zoom, -1}
	falls := ray[1]*c.up[1] - c.up[2]
	if falls >= 0 {
		return line{}
	}
	far := (c.floor - c.distance*c.up[2]) / falls
	at := sum(scaled(ray, far), [3]float64{0, 0, c.distance})
	step := far / c.zoom / cell
	return line{true, dot(at, g.along)/cell + cells/2 - 0.5, dot(at, g.across)/cell + cells/2 - 0.5, g.along[0] * step,
		g.across[0] * step}
}

// under returns the darkness of the floor on a line at x, where nothing is in front of it.
func (g *ground) under(l line, x float64) float32 {
	u, v := l.u+l.uStep*x, l.v+l.vStep*x
	if !(l.below && u >= 0 && v >= 0 && u < cells-1 && v < cells-1) {
		return 0
	}
	i, j := int(u), int(v)
	k, fu, fv := j*cells+i, float32(u-float64(i)), float32(v-float64(j))
	above := g.shade[k]*(1-fu) + g.shade[k+1]*fu
	below := g.shade[k+cells]*(1-fu) + g.shade[k+cells+1]*fu
	return above*(1-fv) + below*fv
}
