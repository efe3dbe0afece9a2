package render

import "math"

// ground is the floor that the mesh stands on, and the shadow there of what is above it, as under an overcast sky.
type ground struct {
	c *camera
	// Two directions along the floor, in camera space, and the place there where the grid begins.
	along, across [3]float64
	cell          float64
	shade         []float32 // of each cell, 0 to 1
}

const (
	cells  = 128 // of the grid, along each side
	spread = 1.9 // half of the grid's side, in units of camera space
)

func newGround(c *camera) *ground {
	// Any two directions at right angles to up.
	along := unit(cross(c.up, [3]float64{0, 0, 1}))
	return &ground{c: c, along: along, across: cross(c.up, along), cell: 2 * spread / cells, shade: make([]float32, cells*cells)}
}

// place gives the cell under a point, as fractions.
func (g *ground) place(p *[3]float64) (u, v float64) {
	return (dot(*p, g.along) + spread) / g.cell, (dot(*p, g.across) + spread) / g.cell
}

// dot lets a place shade the cell under it.
func (g *ground) dot(p *[3]float64) {
	u, v := g.place(p)
	i, j := int(u), int(v)
	if u < 0 || v < 0 || i >= cells || j >= cells {
		return // never: the grid holds the mesh
	}
	dark := float32(1 / (1 + 1.5*math.Max(0, dot(*p, g.c.up)-g.c.floor)))
	g.shade[j*cells+i] = max(g.shade[j*cells+i], dark)
}

// add lets a triangle shade the cells under it.
func (g *ground) add(t *[3][3]float64) {
	u0, v0 := g.place(&t[0])
	u1, v1 := g.place(&t[1])
	u2, v2 := g.place(&t[2])
	lowU, highU, lowV, highV := min(u0, u1, u2), max(u0, u1, u2), min(v0, v1, v2), max(v0, v1, v2)
	// What is near the floor shades it more.
	height := (dot(t[0], g.c.up) + dot(t[1], g.c.up) + dot(t[2], g.c.up)) / 3
	dark := float32(1 / (1 + 1.5*math.Max(0, height-g.c.floor)))
	i0, i1, j0, j1 := int(lowU), int(highU), int(lowV), int(highV)
	if i0 < 0 || j0 < 0 || i1 >= cells || j1 >= cells {
		return // never: the grid holds the mesh
	}
	if i0 == i1 && j0 == j1 {
		g.shade[j0*cells+i0] = max(g.shade[j0*cells+i0], dark)
		return
	}
	// A cell is under the triangle where its middle is, within a little.
	area := (u1-u0)*(v2-v0) - (v1-v0)*(u2-u0)
	if area == 0 {
		return
	}
	slack := 0.7 * (math.Abs(u1-u0) + math.Abs(v1-v0) + math.Abs(u2-u0) + math.Abs(v2-v0)) / math.Abs(area)
	for j := j0; j <= j1; j++ {
		for i := i0; i <= i1; i++ {
			x, y := float64(i)+0.5, float64(j)+0.5
			b := ((x-u0)*(v2-v0) - (y-v0)*(u2-u0)) / area
			c := ((u1-u0)*(y-v0) - (v1-v0)*(x-u0)) / area
			if b >= -slack && c >= -slack && b+c <= 1+slack {
				g.shade[j*cells+i] = max(g.shade[j*cells+i], dark)
			}
		}
	}
}

// soften blurs the shadow: three times a box is near enough to a bell.
func (g *ground) soften() {
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

// under gives how dark the floor is that is seen at a sample where nothing stands before it.
func (g *ground) under(x, y float64) float64 {
	c := g.c
	// The ray through the sample, from the viewer at (0, 0, distance).
	ray := [3]float64{(x - c.shiftX) / c.zoom, (c.shiftY - y) / c.zoom, -1}
	falls := dot(ray, c.up)
	if falls >= 0 {
		return 0
	}
	viewer := [3]float64{0, 0, c.distance}
	far := (c.floor - dot(viewer, c.up)) / falls
	u, v := g.place(&[3]float64{ray[0] * far, ray[1] * far, c.distance + ray[2]*far})
	u, v = u-0.5, v-0.5
	i, j := math.Floor(u), math.Floor(v)
	if !(i >= 0 && j >= 0 && i < cells-1 && j < cells-1) {
		return 0
	}
	k, fu, fv := int(j)*cells+int(i), float32(u-i), float32(v-j)
	above := g.shade[k]*(1-fu) + g.shade[k+1]*fu
	below := g.shade[k+cells]*(1-fu) + g.shade[k+cells+1]*fu
	return float64(above*(1-fv) + below*fv)
}
