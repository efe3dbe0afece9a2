package render

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// face is a triangle being drawn. Points on it are given by the weights of its second and third
// corner.
type face struct {
	mesh    *mesh.Mesh
	camera  *camera
	corners [3]uint32
	at      [3][3]float32 // positions of the corners
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
	none := float32(math.NaN()) // equals no position
	for k := range t.at {
		t.at[k] = [3]float32{none, none, none}
	}
	if m.Normals == nil {
		return t
	}
	t.vertices = make([]vertex, m.Vertices())
	for i := range t.vertices {
		v, p, n := &t.vertices[i], m.Positions[3*i:][:3], m.Normals[3*i:][:3]
		x, y, z := float64(p[0]), float64(p[1]), float64(p[2])
		v.seen = c.project(x, y, z)
		v.normal = c.turn([3]float64{float64(n[0]), float64(n[1]), float64(n[2])})
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
	p := &t.at[k]
	return g.above(float64(p[0]), float64(p[1]), float64(p[2]))
}

// set loads triangle i of a mesh without normals. Most triangles share two corners with the one
// before them, and projecting takes longer than comparing.
func (t *face) set(i int) {
	t.corners[0], t.corners[1], t.corners[2] = t.mesh.Corners(i)
	a0, a1, a2 := t.at[0], t.at[1], t.at[2]
	s0, s1, s2 := t.seen[0], t.seen[1], t.seen[2]
	for k, v := range t.corners {
		p := t.mesh.Positions[3*int(v):][:3:3]
		x, y, z := p[0], p[1], p[2]
		var s seen
		switch {
		case x == a0[0] && y == a0[1] && z == a0[2]:
			s = s0
		case x == a1[0] && y == a1[1] && z == a1[2]:
			s = s1
		case x == a2[0] && y == a2[1] && z == a2[2]:
			s = s2
		default:
			s = t.camera.project(float64(x), float64(y), float64(z))
		}
		t.at[k], t.seen[k] = [3]float32{x, y, z}, s
	}
	t.flat = 0
}

// corner returns the position of a corner.
func (t *face) corner(k int) [3]float64 {
	return [3]float64{float64(t.at[k][0]), float64(t.at[k][1]), float64(t.at[k][2])}
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
		a, b, c := t.corner(0), t.corner(1), t.corner(2)
		n := cross([3]float64{b[0] - a[0], b[1] - a[1], b[2] - a[2]}, [3]float64{c[0] - a[0], c[1] - a[1], c[2] - a[2]})
		t.flat = t.camera.turn(scaled(n, t.camera.areas)).pack()
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
		a, b, c := t.mesh.Colors[4*int(t.corners[0])+k], t.mesh.Colors[4*int(t.corners[1])+k], t.mesh.Colors[4*int(t.corners[2])+k]
		x := (1-wB-wC)*float32(a) + wB*float32(b) + wC*float32(c)
		color |= uint32(min(255, max(0, x+0.5))) << (8 * k)
	}
	return color
}
