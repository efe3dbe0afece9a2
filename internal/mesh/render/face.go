package render

import "github.com/meshyard/meshyard/internal/mesh"

// face is a triangle being drawn. Points on it are given by the weights of its second and third
// corner.
type face struct {
	mesh    *mesh.Mesh
	camera  *camera
	corners [3]uint32
	at      [3][3]float64 // positions of the corners
	seen    [3]seen
	flat    uint32 // the packed normal if it is constant; 0 if not computed yet
	bent    bool   // vertex normals are available
	normals [3]direction
}

// set loads triangle i of the mesh.
func (t *face) set(i int) {
	t.corners[0], t.corners[1], t.corners[2] = t.mesh.Corners(i)
	for k, v := range t.corners {
		p := t.mesh.Positions[3*int(v):][:3:3]
		x, y, z := float64(p[0]), float64(p[1]), float64(p[2])
		t.at[k] = [3]float64{x, y, z}
		t.seen[k] = t.camera.project(x, y, z)
	}
	t.flat, t.bent = 0, false
}

// small reports whether the triangle is smaller in the image than a cell of the ground.
func (t *face) small() bool {
	const side = 4 * subsample
	a, b, c := &t.seen[0], &t.seen[1], &t.seen[2]
	return max(a.x, b.x, c.x)-min(a.x, b.x, c.x) < side && max(a.y, b.y, c.y)-min(a.y, b.y, c.y) < side
}

// near returns the nearness of the surface.
func (t *face) near(wB, wC float32) float32 {
	a := t.seen[0].near
	return a + wB*(t.seen[1].near-a) + wC*(t.seen[2].near-a)
}

// facing returns the packed normal of the surface.
func (t *face) facing(wB, wC float32) uint32 {
	if t.flat != 0 {
		return t.flat
	}
	if t.mesh.Normals == nil {
		a, b, c := &t.at[0], &t.at[1], &t.at[2]
		n := cross([3]float64{b[0] - a[0], b[1] - a[1], b[2] - a[2]}, [3]float64{c[0] - a[0], c[1] - a[1], c[2] - a[2]})
		t.flat = t.camera.turn(unit(n)).pack()
		return t.flat
	}
	n := &t.normals
	if !t.bent {
		for k, v := range t.corners {
			p := t.mesh.Normals[3*int(v):][:3]
			n[k] = t.camera.turn([3]float64{float64(p[0]), float64(p[1]), float64(p[2])})
		}
		t.bent = true
	}
	wA := 1 - wB - wC
	return direction{
		wA*n[0].x + wB*n[1].x + wC*n[2].x,
		wA*n[0].y + wB*n[1].y + wC*n[2].y,
		wA*n[0].z + wB*n[1].z + wC*n[2].z,
	}.pack()
}

// color returns the colour of the surface.
func (t *face) color(wB, wC float32) (color uint32) {
	for k := range 3 {
		a, b, c := t.mesh.Colors[4*int(t.corners[0])+k], t.mesh.Colors[4*int(t.corners[1])+k], t.mesh.Colors[4*int(t.corners[2])+k]
		x := (1-wB-wC)*float32(a) + wB*float32(b) + wC*float32(c)
		color |= uint32(min(255, max(0, x+0.5))) << (8 * k)
	}
	return color
}
