package render

import (
	"github.com/meshyard/meshyard/internal/mesh"
)

// face is a triangle being drawn. Points on it are given by the weights of its second and third
// corner.
type face struct {
	mesh    *mesh.Mesh
	camera  *camera
	corners [3]uint32
	seen    [3]seen
	flat    uint32 // the packed normal if it is constant; 0 if not computed yet

	vertices []vertex // all of a mesh with normals
	slope    slope

	paint
}

// vertex is what is computed from a vertex, which several triangles share.
type vertex struct {
	seen   seen
	normal direction
	place  place // of the normal
	above  above
}

// newFace returns a face for drawing the triangles of a mesh. The vertices of a mesh with normals
// cast their shadows on g.
func newFace(m *mesh.Mesh, c *camera, g *ground) *face {
	t := &face{mesh: m, camera: c}
	if m.Normals == nil {
		if m.Vertices() > 0 {
			p := t.at(0)
			s := c.project(float64(p[0]), float64(p[1]), float64(p[2]))
			t.seen = [3]seen{s, s, s} // as if vertex 0 were all corners of a triangle before
		}
		return t
	}
	t.vertices = make([]vertex, m.Vertices())
	for i := range t.vertices {
		v, p, n := &t.vertices[i], m.Positions[3*i:][:3], m.Normals[3*i:][:3]
		x, y, z := float64(p[0]), float64(p[1]), float64(p[2])
		v.seen = c.project(x, y, z)
		v.normal = c.turn(float64(n[0]), float64(n[1]), float64(n[2]))
		v.place = v.normal.place(abs(v.normal.x) + abs(v.normal.y) + abs(v.normal.z))
		v.above = g.above(x, y, z)
		g.dot(v.above)
	}
	return t
}

// load loads triangle i of the mesh.
func (t *face) load(i int) {
	if t.vertices == nil {
		t.set(i)
		return
	}
	a, b, c := t.mesh.Corners(i)
	t.corners[0], t.corners[1], t.corners[2] = a, b, c
	t.seen[0], t.seen[1], t.seen[2] = t.vertices[a].seen, t.vertices[b].seen, t.vertices[c].seen
}

// above returns where a corner is over the ground.
func (t *face) above(g *ground, k int) above {
	if t.vertices != nil {
		return t.vertices[t.corners[k]].above
	}
	p := t.at(t.corners[k])
	return g.above(float64(p[0]), float64(p[1]), float64(p[2]))
}

// set loads triangle i of a mesh without normals. Most triangles share two corners with the one
// before them, and projecting takes longer than comparing.
func (t *face) set(i int) {
	p0, p1, p2 := t.at(t.corners[0]), t.at(t.corners[1]), t.at(t.corners[2])
	s0, s1, s2 := t.seen[0], t.seen[1], t.seen[2]
	t.corners[0], t.corners[1], t.corners[2] = t.mesh.Corners(i)
	for k := range t.corners { // a range over values would copy them
		p := t.at(t.corners[k])
		x, y, z := p[0], p[1], p[2]
		switch {
		case x == p0[0] && y == p0[1] && z == p0[2]:
			t.seen[k] = s0
		case x == p1[0] && y == p1[1] && z == p1[2]:
			t.seen[k] = s1
		case x == p2[0] && y == p2[1] && z == p2[2]:
			t.seen[k] = s2
		default:
			t.seen[k] = t.camera.project(float64(x), float64(y), float64(z))
		}
	}
	t.flat = 0
}

// at returns the position of a vertex.
func (t *face) at(vertex uint32) *[3]float32 {
	return (*[3]float32)(t.mesh.Positions[3*int(vertex):])
}

// small reports whether the triangle is smaller in the image than a cell of the ground.
func (t *face) small() bool {
	const side = 4 * subsample
	a, b, c := &t.seen[0], &t.seen[1], &t.seen[2]
	return max(a.x, b.x, c.x)-min(a.x, b.x, c.x) < side && max(a.y, b.y, c.y)-min(a.y, b.y, c.y) < side
}

// facing returns the packed normal of the surface.
func (t *face) facing(wB, wC float32) uint32 {
	if t.flat != 0 {
		return t.flat
	}
	if t.vertices == nil {
		a, b, c, scale := t.at(t.corners[0]), t.at(t.corners[1]), t.at(t.corners[2]), t.camera.areas
		x, y, z := float64(a[0]), float64(a[1]), float64(a[2])
		ux, uy, uz := float64(b[0])-x, float64(b[1])-y, float64(b[2])-z
		vx, vy, vz := float64(c[0])-x, float64(c[1])-y, float64(c[2])-z
		t.flat = t.camera.turn((uy*vz-uz*vy)*scale, (uz*vx-ux*vz)*scale, (ux*vy-uy*vx)*scale).pack()
		return t.flat
	}
	return t.normal(1-wB-wC, wB, wC).pack()
}

// normal returns the sum of the normals of the corners with the given weights.
func (t *face) normal(wA, wB, wC float32) direction {
	a, b, c := &t.vertices[t.corners[0]].normal, &t.vertices[t.corners[1]].normal, &t.vertices[t.corners[2]].normal
	return direction{wA*a.x + wB*b.x + wC*c.x, wA*a.y + wB*b.y + wC*c.y, wA*a.z + wB*b.z + wC*c.z}
}

// color returns the color of the surface.
func (t *face) color(wB, wC float32) (color uint32) {
	for k := range 3 {
		a, b, c := t.mesh.Colors[4*int(t.corners[0])+k], t.mesh.Colors[4*int(t.corners[1])+k],
			t.mesh.Colors[4*int(t.corners[2])+k]
		x := (1-wB-wC)*float32(a) + wB*float32(b) + wC*float32(c)
		color |= uint32(min(255, max(0, x+0.5))) << (8 * k)
	}
	return color
}
