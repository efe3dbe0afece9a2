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

// above is a position over the ground: its place on the grid and its height above the floor.
type above struct{ u, v, height float64 }

func (g *ground) above(x, y, z float64) above {
	return above{g.u.of(x, y, z), g.v.of(x, y, z), g.height.of(x, y, z)}
}

// dot casts the shadow of a position on the cell below it.
func (g *ground) dot(p above) {
	i, j := int(p.u), int(p.v)
	if uint(i) >= cells || uint(j) >= cells {
		return // unreachable: the grid contains the mesh
	}
	if k, height := j*cells+i, float32(p.height); height < g.low[k] {
		g.low[k] = height
	}
}

// add casts the shadow of triangle i and returns the amount of work. Of small triangles, many of
// which are above one cell, it uses one corner of every fourth.
func (g *ground) add(t *face, i int) (work int) {
	if t.small() {
		if i%4 == 0 {
			g.dot(t.above(g, 0))
		}
		return 0
	}
	var p [3]above
	var height float64
	for k := range p {
		p[k] = t.above(g, k)
		height += p[k].height / 3
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
	lowest := float32(height)
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
			g.low[j*cells+i] = min(g.low[j*cells+i], lowest)
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

// under returns the darkness of the floor at a sample where nothing is in front of it.
func (g *ground) under(x, y float64) float64 {
	c := g.c
	// The ray through the sample, from the viewer at (0, 0, distance).
	ray := [3]float64{(x - c.shiftX) / c.zoom, (c.shiftY - y) / c.zoom, -1}
	falls := dot(ray, c.up)
	if falls >= 0 {
		return 0
	}
	far := (c.floor - c.distance*c.up[2]) / falls
	at := [3]float64{ray[0] * far, ray[1] * far, c.distance + ray[2]*far}
	u, v := dot(at, g.along)/cell+cells/2-0.5, dot(at, g.across)/cell+cells/2-0.5
	if !(u >= 0 && v >= 0 && u < cells-1 && v < cells-1) {
		return 0
	}
	i, j := int(u), int(v)
	k, fu, fv := j*cells+i, float32(u-float64(i)), float32(v-float64(j))
	above := g.shade[k]*(1-fu) + g.shade[k+1]*fu
	below := g.shade[k+cells]*(1-fu) + g.shade[k+cells+1]*fu
	return float64(above*(1-fv) + below*fv)
}
