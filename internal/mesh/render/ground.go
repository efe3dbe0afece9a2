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

// dot casts the shadow of a position on the cell below it.
func (g *ground) dot(x, y, z float64) {
	i, j := int(g.u.of(x, y, z)), int(g.v.of(x, y, z))
	if uint(i) >= cells || uint(j) >= cells {
		return // unreachable: the grid contains the mesh
	}
	if k, height := j*cells+i, float32(g.height.of(x, y, z)); height < g.low[k] {
		g.low[k] = height
	}
}

// add casts the shadow of triangle i and returns the amount of work. Of small triangles, many of
// which are above one cell, it uses one corner of every fourth.
func (g *ground) add(t *face, i int) (work int) {
	if t.small() {
		if i%4 == 0 {
			p := t.corner(0)
			g.dot(p[0], p[1], p[2])
		}
		return 0
	}
	var u, v [3]float64
	var height float64
	for k := range 3 {
		at := t.corner(k)
		u[k], v[k] = g.u.of(at[0], at[1], at[2]), g.v.of(at[0], at[1], at[2])
		height += g.height.of(at[0], at[1], at[2]) / 3
	}
	i0, i1 := max(0, int(min(u[0], u[1], u[2]))), min(cells-1, int(max(u[0], u[1], u[2])))
	j0, j1 := max(0, int(min(v[0], v[1], v[2]))), min(cells-1, int(max(v[0], v[1], v[2])))
	// A cell is below the triangle if its centre is, with a small margin: inside each edge, a·x +
	// b·y + c ≥ 0.
	area := (u[1]-u[0])*(v[2]-v[0]) - (v[1]-v[0])*(u[2]-u[0])
	turned := math.Copysign(1, area)
	lowest := float32(height)
	for j := j0; j <= j1; j++ {
		low, high := float64(i0), float64(i1)
		for k := range 3 {
			n := (k + 1) % 3
			a, b := -(v[n]-v[k])*turned, (u[n]-u[k])*turned
			rest := b*(float64(j)+0.5-v[k]) + a*(0.5-u[k]) + 0.7*(math.Abs(a)+math.Abs(b)) // for cell 0
			switch {
			case a > 0:
				low = max(low, math.Ceil(-rest/a))
			case a < 0:
				high = min(high, math.Floor(-rest/a))
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
