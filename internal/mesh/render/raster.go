package render

import (
	"context"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// raster is what is seen in each sample: how near it is, where its surface faces, and its colour.
type raster struct {
	width, height int
	near          []float32 // 1 / distance; 0: nothing is there
	facing        []uint32  // see pack
	color         []uint32  // red, green, blue from the lowest byte on; nil where the mesh has no colours
}

func newRaster(width, height int, colored bool) *raster {
	r := &raster{width: width, height: height, near: make([]float32, width*height), facing: make([]uint32, width*height)}
	if colored {
		r.color = make([]uint32, width*height)
	}
	return r
}

// triangles draws all triangles, both sides of each.
func (r *raster) triangles(ctx context.Context, m *mesh.Mesh, c *camera, g *ground, progress func(float64)) error {
	total := m.Triangles()
	smooth := m.Normals != nil
	var t face
	for i := range total {
		if i%askEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			progress(float64(i) / float64(total))
		}
		corners := [3]uint32{uint32(3 * i), uint32(3*i + 1), uint32(3*i + 2)}
		if m.Indices != nil {
			corners = [3]uint32(m.Indices[3*i : 3*i+3])
		}
		for k, v := range corners {
			x, y, z := c.view(m.Positions[3*v : 3*v+3])
			t.at[k] = [3]float64{x, y, z}
			t.seen[k] = c.project(x, y, z)
			if smooth {
				t.normal[k][0], t.normal[k][1], t.normal[k][2] = c.direction(m.Normals[3*v : 3*v+3])
			}
			if r.color != nil {
				p := m.Colors[4*v : 4*v+3]
				t.color[k] = [3]float32{float32(p[0]), float32(p[1]), float32(p[2])}
			}
		}
		if r.triangle(&t, smooth) {
			g.dot(&t.at[0])
		} else {
			g.add(&t.at)
		}
	}
	return nil
}

// face is a triangle on its way to the picture.
type face struct {
	at     [3][3]float64 // in camera space
	seen   [3]seen
	normal [3][3]float64 // of the corners, where they are smooth
	color  [3][3]float32
}

// triangle draws a triangle, and tells whether it is small. Places are whole numbers, so of two triangles that share an edge one at least has each sample on it, and no crack is seen between them.
func (r *raster) triangle(t *face, smooth bool) (small bool) {
	a, b, c := t.seen[0], t.seen[1], t.seen[2]
	area := int64(b.x-a.x)*int64(c.y-a.y) - int64(b.y-a.y)*int64(c.x-a.x)
	small = max(a.x, b.x, c.x)-min(a.x, b.x, c.x) < smallSide && max(a.y, b.y, c.y)-min(a.y, b.y, c.y) < smallSide
	if area == 0 {
		return small
	}
	ib, ic := 1, 2
	if area < 0 {
		b, c, ib, ic, area = c, b, 2, 1, -area
	}
	// The samples whose middles may be inside.
	const half = subsample / 2
	x0, x1 := (min(a.x, b.x, c.x)+half-1)>>4, (max(a.x, b.x, c.x)-half)>>4
	y0, y1 := (min(a.y, b.y, c.y)+half-1)>>4, (max(a.y, b.y, c.y)-half)>>4
	x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, int32(r.width)-1), min(y1, int32(r.height)-1)
	if x0 > x1 || y0 > y1 {
		return small
	}
	// How far the first sample is inside each edge, and how that changes from one to the next.
	px, py := x0*subsample+half, y0*subsample+half
	eA := int64(c.x-b.x)*int64(py-b.y) - int64(c.y-b.y)*int64(px-b.x)
	eB := int64(a.x-c.x)*int64(py-c.y) - int64(a.y-c.y)*int64(px-c.x)
	eC := int64(b.x-a.x)*int64(py-a.y) - int64(b.y-a.y)*int64(px-a.x)
	dxA, dxB, dxC := -int64(c.y-b.y)*subsample, -int64(a.y-c.y)*subsample, -int64(b.y-a.y)*subsample
	dyA, dyB, dyC := int64(c.x-b.x)*subsample, int64(a.x-c.x)*subsample, int64(b.x-a.x)*subsample
	scale := 1 / float32(area)
	facing, flat := uint32(0), !smooth
	for y := y0; y <= y1; y++ {
		fA, fB, fC := eA, eB, eC
		row := int(y) * r.width
		for x := x0; x <= x1; x++ {
			if fA|fB|fC >= 0 {
				wA, wB, wC := float32(fA)*scale, float32(fB)*scale, float32(fC)*scale
				near := wA*a.near + wB*b.near + wC*c.near
				if i := row + int(x); near > r.near[i] {
					r.near[i] = near
					if flat {
						if facing == 0 {
							facing = t.facing()
						}
						r.facing[i] = facing
					} else {
						r.facing[i] = t.smooth(float64(wA), float64(wB), float64(wC), ib, ic)
					}
					if r.color != nil {
						r.color[i] = t.colored(wA, wB, wC, ib, ic)
					}
				}
			}
			fA, fB, fC = fA+dxA, fB+dxB, fC+dxC
		}
		eA, eB, eC = eA+dyA, eB+dyB, eC+dyC
	}
	return small
}

// smallSide is how long a small triangle is at most, in places: no more than a cell of the ground.
const smallSide = 4 * subsample

// facing gives where the triangle faces.
func (t *face) facing() uint32 {
	a, b, c := &t.at[0], &t.at[1], &t.at[2]
	n := cross([3]float64{b[0] - a[0], b[1] - a[1], b[2] - a[2]}, [3]float64{c[0] - a[0], c[1] - a[1], c[2] - a[2]})
	return pack(n)
}

// smooth gives where the surface faces between the corners.
func (t *face) smooth(wA, wB, wC float64, ib, ic int) uint32 {
	nA, nB, nC := &t.normal[0], &t.normal[ib], &t.normal[ic]
	n := [3]float64{wA*nA[0] + wB*nB[0] + wC*nC[0], wA*nA[1] + wB*nB[1] + wC*nC[1], wA*nA[2] + wB*nB[2] + wC*nC[2]}
	return pack(n)
}

func (t *face) colored(wA, wB, wC float32, ib, ic int) uint32 {
	cA, cB, cC := &t.color[0], &t.color[ib], &t.color[ic]
	mix := func(i int) uint32 { return uint32(wA*cA[i] + wB*cB[i] + wC*cC[i] + 0.5) }
	return min(mix(0), 255) | min(mix(1), 255)<<8 | min(mix(2), 255)<<16
}

// facingBits is how finely directions are told apart, along each of two axes.
const facingBits = 9

// pack writes a direction in camera space, turned towards the viewer, as a place on the octahedron whose front half is unfolded: never 0.
func pack(n [3]float64) uint32 {
	l := math.Abs(n[0]) + math.Abs(n[1]) + math.Abs(n[2])
	if !(l > 0) || math.IsInf(l, 0) {
		return 1 << (2 * facingBits) // to the viewer
	}
	if n[2] < 0 {
		l = -l
	}
	// x + y and x - y of the octahedron's front half fill a square.
	const most = 1<<facingBits - 1
	x, y := n[0]/l, n[1]/l
	u, v := uint32((x+y+1)/2*most+0.5), uint32((x-y+1)/2*most+0.5)
	return 1<<(2*facingBits) | min(u, most)<<facingBits | min(v, most)
}

// unpack gives the unit vector of a direction.
func unpack(facing uint32) [3]float64 {
	const most = 1<<facingBits - 1
	if facing == 1<<(2*facingBits) {
		return [3]float64{0, 0, 1}
	}
	p, q := float64(facing>>facingBits&most)/most*2-1, float64(facing&most)/most*2-1
	x, y := (p+q)/2, (p-q)/2
	return unit([3]float64{x, y, math.Max(1e-6, 1-math.Abs(x)-math.Abs(y))})
}
