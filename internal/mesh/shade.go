package mesh

import (
	"math"
	"slices"
)

// CreaseAngle is the angle between two faces, in degrees, above which their common edge is shaded
// as a sharp edge.
const CreaseAngle = 40

// Shaded returns a welded copy of the mesh with normals. Faces that meet at a vertex at less than
// angle degrees share a normal there: the sum of their normals weighted by area. A vertex with
// several normals is duplicated. The triangles keep their order and number. Shaded returns a point
// cloud unchanged, without normals.
func (m *Mesh) Shaded(angle float64) *Mesh {
	if m.Cloud {
		return m
	}
	w := m
	if m.Indices == nil {
		w = m.Weld()
	}
	faces := m.faceNormals(w.scale()) // reading m is faster, because its vertices are in order
	out := *w
	if w == m {
		out.Indices = slices.Clone(w.Indices)
	}
	first := out.incidence()
	out.Positions = make([]float32, 0, len(w.Positions)+len(w.Positions)/4)
	out.Normals = make([]float32, 0, cap(out.Positions))
	if w.Colors != nil {
		out.Colors = make([]uint8, 0, len(w.Colors)+len(w.Colors)/4)
	}
	sharp := newCrease(angle)
	var groups []group
	for v := range uint32(w.Vertices()) {
		groups = groups[:0]
		base := uint32(len(out.Positions) / 3)
		for next := first[v]; next != 0; {
			corner := next - 1
			next = out.Indices[corner]
			n := &faces[corner/3]
			g := sharp.nearest(groups, n)
			if g < 0 {
				g = len(groups)
				groups = append(groups, group{})
			}
			if groups[g].square == 0 { // so far, all faces are degenerate
				groups[g].lead, groups[g].square = wide(n), squared(n)
			}
			sum := &groups[g].sum
			sum[0], sum[1], sum[2] = sum[0]+n[0], sum[1]+n[1], sum[2]+n[2]
			out.Indices[corner] = base + uint32(g)
		}
		p := w.Positions[3*v : 3*v+3 : 3*v+3]
		for g := range groups {
			out.Positions = append(out.Positions, p[0], p[1], p[2])
			if w.Colors != nil {
				out.Colors = append(out.Colors, w.Colors[4*v:4*v+4]...)
			}
			x, y, z := unit(&groups[g].sum)
			if x == 0 && y == 0 && z == 0 {
				z = 1 // only degenerate faces meet here
			}
			out.Normals = append(out.Normals, x, y, z)
		}
	}
	return &out
}

// group is the faces around a vertex that share a normal. lead is the normal of the first face that
// is not degenerate and square the square of its length, sum is the weighted sum.
type group struct {
	lead   [3]float64
	square float64
	sum    [3]float32
}

// crease decides which faces share a normal.
type crease struct {
	sharp float32 // the cosine of the angle above which an edge is sharp
	// Squares of cosines that are certainly below and above that of the angle, whatever the rounding.
	below, above float64
}

func newCrease(angle float64) crease {
	const doubt = 1e-5 // more than the rounding errors of together, which has single precision
	cos := math.Cos(angle * math.Pi / 180)
	c := crease{sharp: float32(cos), below: -1, above: math.Inf(1)}
	if cos > doubt {
		c.below, c.above = (cos-doubt)*(cos-doubt), (cos+doubt)*(cos+doubt)
	}
	return c
}

// nearest returns the first group that a face of normal n belongs to, or -1 if there is none. A
// degenerate face belongs to any group. Unit vectors, which take longer than all else, are computed
// only for angles close to the crease angle.
func (c *crease) nearest(groups []group, n *[3]float32) int {
	square := squared(n)
	for i := range groups {
		g := &groups[i]
		cos := float64(n[0])*g.lead[0] + float64(n[1])*g.lead[1] + float64(n[2])*g.lead[2]
		lengths := square * g.square
		switch {
		case cos > 0 && cos*cos > c.above*lengths:
			return i
		case c.below >= 0 && (cos < 0 || cos*cos < c.below*lengths):
		case c.together(n, &[3]float32{float32(g.lead[0]), float32(g.lead[1]), float32(g.lead[2])}):
			return i
		}
	}
	return -1
}

// together reports whether two faces of the given normals share a normal.
func (c *crease) together(n, lead *[3]float32) bool {
	var u, v [3]float32
	u[0], u[1], u[2] = unit(n)
	v[0], v[1], v[2] = unit(lead)
	return u == ([3]float32{}) || v == ([3]float32{}) || dot(v, u) >= c.sharp
}

// wide returns a vector in double precision.
func wide(v *[3]float32) [3]float64 {
	return [3]float64{float64(v[0]), float64(v[1]), float64(v[2])}
}

func squared(v *[3]float32) float64 {
	x, y, z := float64(v[0]), float64(v[1]), float64(v[2])
	return x*x + y*y + z*z
}

// scale returns the power of two that scales the mesh to a size of about 1. The areas of very large
// and very small meshes are out of range in single precision.
func (m *Mesh) scale() float64 {
	_, exponent := math.Frexp((&Mesh{Positions: m.Positions}).Box().Diagonal())
	return math.Ldexp(1, -exponent)
}

// faceNormals returns the normal of each triangle as the cross product of two edges, whose length
// is twice the area. Coordinates are multiplied by scale.
func (m *Mesh) faceNormals(scale float64) [][3]float32 {
	normals := make([][3]float32, m.Triangles())
	for t := range normals {
		i, j, k := m.Corners(t)
		a, b, c := (*[3]float32)(m.Positions[3*i:]), (*[3]float32)(m.Positions[3*j:]), (*[3]float32)(m.Positions[3*k:])
		ax, ay, az := float64(a[0]), float64(a[1]), float64(a[2])
		ux, uy, uz := (float64(b[0])-ax)*scale, (float64(b[1])-ay)*scale, (float64(b[2])-az)*scale
		vx, vy, vz := (float64(c[0])-ax)*scale, (float64(c[1])-ay)*scale, (float64(c[2])-az)*scale
		normals[t] = [3]float32{float32(uy*vz - uz*vy), float32(uz*vx - ux*vz), float32(ux*vy - uy*vx)}
	}
	return normals
}

// incidence replaces the indices by linked lists of the corners at each vertex, in ascending order.
// first holds the first corner of each vertex + 1; Indices holds for each corner the next one + 1,
// or 0. It needs no further memory.
func (m *Mesh) incidence() (first []uint32) {
	first = make([]uint32, m.Vertices())
	for corner := len(m.Indices) - 1; corner >= 0; corner-- {
		v := m.Indices[corner]
		m.Indices[corner], first[v] = first[v], uint32(corner+1)
	}
	return first
}

func dot(a, b [3]float32) float32 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// unit returns v scaled to length 1, or zero if its direction is lost in single precision.
func unit(v *[3]float32) (ux, uy, uz float32) {
	x, y, z := float64(v[0]), float64(v[1]), float64(v[2])
	l := math.Sqrt(x*x + y*y + z*z)
	if !(l > 0 && l <= math.MaxFloat64) {
		return 0, 0, 0
	}
	l = 1 / l
	return float32(x * l), float32(y * l), float32(z * l)
}
