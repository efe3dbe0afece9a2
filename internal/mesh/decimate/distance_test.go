package decimate

import (
	"math"
	"math/rand/v2"

	"github.com/meshyard/meshyard/internal/mesh"
)

// nearest finds the nearest triangle of a mesh, with a grid of bounding boxes.
type nearest struct {
	mesh  *mesh.Mesh
	low   vector
	side  float64
	sizes [3]int
	in    map[int][]int
}

func place(m *mesh.Mesh, v uint32) vector {
	p := m.At(v)
	return vector{float64(p[0]), float64(p[1]), float64(p[2])}
}

func newNearest(m *mesh.Mesh) *nearest {
	box := m.Box()
	n := &nearest{mesh: m, low: box.Min, side: box.Diagonal() / 60, in: make(map[int][]int)}
	for i, s := range box.Size() {
		n.sizes[i] = int(s/n.side) + 1
	}
	for t := range m.Triangles() {
		a, b, c := m.Corners(t)
		lo, hi := n.cell(place(m, a)), n.cell(place(m, a))
		for _, v := range []uint32{b, c} {
			for i, x := range n.cell(place(m, v)) {
				lo[i], hi[i] = min(lo[i], x), max(hi[i], x)
			}
		}
		for x := lo[0]; x <= hi[0]; x++ {
			for y := lo[1]; y <= hi[1]; y++ {
				for z := lo[2]; z <= hi[2]; z++ {
					k := n.key(x, y, z)
					n.in[k] = append(n.in[k], t)
				}
			}
		}
	}
	return n
}

func (n *nearest) cell(p vector) (c [3]int) {
	for i := range c {
		c[i] = max(0, min(n.sizes[i]-1, int((p[i]-n.low[i])/n.side)))
	}
	return c
}

func (n *nearest) key(x, y, z int) int { return (z*n.sizes[1]+y)*n.sizes[0] + x }

// to returns the distance of p from the surface.
func (n *nearest) to(p vector) float64 {
	best := math.Inf(1)
	for ring := 0; ring < 64 && float64(ring-1)*n.side < best; ring++ {
		n.each(p, ring, func(a, b, c vector) {
			if d := distance(p, a, b, c); d < best { // NaN for a degenerate triangle
				best = d
			}
		})
	}
	return best
}

// shows reports whether the surface has a face with a normal like this one within a distance of p,
// which is at most a cell.
func (n *nearest) shows(p, normal vector, within float64) (ok bool) {
	for ring := range 2 {
		n.each(p, ring, func(a, b, c vector) {
			face := b.minus(a).cross(c.minus(a))
			ok = ok || face.dot(normal) > -0.5*math.Sqrt(face.dot(face)*normal.dot(normal)) && distance(p, a, b, c) <= within
		})
	}
	return ok
}

// each calls look for the triangles in the cells at a distance of ring cells from p.
func (n *nearest) each(p vector, ring int, look func(a, b, c vector)) {
	at := n.cell(p)
	for x := max(0, at[0]-ring); x <= min(n.sizes[0]-1, at[0]+ring); x++ {
		for y := max(0, at[1]-ring); y <= min(n.sizes[1]-1, at[1]+ring); y++ {
			for z := max(0, at[2]-ring); z <= min(n.sizes[2]-1, at[2]+ring); z++ {
				if max(x-at[0], at[0]-x, y-at[1], at[1]-y, z-at[2], at[2]-z) != ring {
					continue
				}
				for _, t := range n.in[n.key(x, y, z)] {
					a, b, c := n.mesh.Corners(t)
					look(place(n.mesh, a), place(n.mesh, b), place(n.mesh, c))
				}
			}
		}
	}
}

// distance returns the distance of p from a triangle (C. Ericson, Real-time collision detection,
// 2005, 5.1.5).
func distance(p, a, b, c vector) float64 {
	to := func(q vector) float64 { d := p.minus(q); return math.Sqrt(d.dot(d)) }
	ab, ac, ap := b.minus(a), c.minus(a), p.minus(a)
	d1, d2 := ab.dot(ap), ac.dot(ap)
	if d1 <= 0 && d2 <= 0 {
		return to(a)
	}
	bp := p.minus(b)
	d3, d4 := ab.dot(bp), ac.dot(bp)
	if d3 >= 0 && d4 <= d3 {
		return to(b)
	}
	if vc := d1*d4 - d3*d2; vc <= 0 && d1 >= 0 && d3 <= 0 {
		return to(a.plus(ab.times(d1 / (d1 - d3))))
	}
	cp := p.minus(c)
	d5, d6 := ab.dot(cp), ac.dot(cp)
	if d6 >= 0 && d5 <= d6 {
		return to(c)
	}
	if vb := d5*d2 - d1*d6; vb <= 0 && d2 >= 0 && d6 <= 0 {
		return to(a.plus(ac.times(d2 / (d2 - d6))))
	}
	va := d3*d6 - d5*d4
	if va <= 0 && d4-d3 >= 0 && d5-d6 >= 0 {
		return to(b.plus(c.minus(b).times((d4 - d3) / (d4 - d3 + d5 - d6))))
	}
	vb, vc := d5*d2-d1*d6, d1*d4-d3*d2
	sum := va + vb + vc
	return to(a.plus(ab.times(vb / sum)).plus(ac.times(vc / sum)))
}

// sample returns random points on a surface, distributed by area, with their normals.
func sample(m *mesh.Mesh, rng *rand.Rand, n int) (points, normals []vector) {
	sums := make([]float64, m.Triangles())
	sum := 0.0
	faces := make([]vector, m.Triangles())
	for t := range sums {
		a, b, c := m.Corners(t)
		p := place(m, a)
		faces[t] = place(m, b).minus(p).cross(place(m, c).minus(p))
		sum += math.Sqrt(faces[t].dot(faces[t]))
		sums[t] = sum
	}
	for t, done := 0, 0.0; len(points) < n; done += sum / float64(n) {
		for t < len(sums)-1 && sums[t] < done {
			t++
		}
		a, b, c := m.Corners(t)
		u, v := rng.Float64(), rng.Float64()
		if u+v > 1 {
			u, v = 1-u, 1-v
		}
		p := place(m, a)
		points = append(points, p.plus(place(m, b).minus(p).times(u)).plus(place(m, c).minus(p).times(v)))
		normals = append(normals, faces[t])
	}
	return points, normals
}

// apart samples the maximum distance of two surfaces in both directions, and the fraction of the
// second whose orientation does not occur nearby in the first.
func apart(a, b *mesh.Mesh, rng *rand.Rand, n int) (most, turned float64) {
	toA, toB := newNearest(a), newNearest(b)
	points, _ := sample(a, rng, n)
	for _, p := range points {
		most = max(most, toB.to(p))
	}
	points, normals := sample(b, rng, n)
	for i, p := range points {
		d := toA.to(p)
		most = max(most, d)
		if !toA.shows(p, normals[i], min(2*d+1e-3*a.Box().Diagonal(), toA.side)) {
			turned += 1 / float64(n)
		}
	}
	return most, turned
}
