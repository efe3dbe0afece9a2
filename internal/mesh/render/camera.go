package render

import (
	"math"
	"math/bits"

	"github.com/meshyard/meshyard/internal/mesh"
)

// camera maps positions of a mesh to the image. In camera space the mesh is about 2 units large
// around the origin; x points to the right, y up and z towards the viewer.
type camera struct {
	width, height float64 // in samples
	toView        affine  // from a position to camera space
	// distance is from the viewer to the origin.
	distance float64
	// A point of camera space at distance w is projected to x·zoom/w + shiftX, shiftY - y·zoom/w,
	// in samples.
	zoom, shiftX, shiftY float64
	up                   [3]float64 // in camera space
	floor                float64    // the lowest position of the mesh along up

	// Linear functions of a position: the projected coordinates in subsamples before the division by
	// the distance, and the distance.
	across, down, away row

	rotation [3][3]float64 // rotates directions to camera space
	// areas scales products of two lengths of a mesh to camera space.
	areas float64
}

const (
	fieldOfView = 28.0 // in degrees; long focal lengths distort less
	margin      = 0.07 // fraction of the image on each side
	// maxZoom limits the magnification of very thin meshes: those narrower than a fortieth of the
	// image are not magnified further.
	maxZoom = 40
)

// look places a camera for a mesh.
func look(m *mesh.Mesh, width, height int) *camera {
	c := &camera{width: float64(width), height: float64(height)}
	used := usedVertices(m)
	// Without Origin, which would exceed the precision for a small mesh.
	runs := used.runs(m.Positions)
	box := union(runs)
	size := box.Size()
	_, _, top := axes(m.Up)
	back := viewpoint(m, size)
	right := unit(cross(top, back))
	up := cross(back, right)
	half := max(size[0], size[1], size[2]) / 2
	if half == 0 {
		half = 1
	}
	for i, axis := range [3][3]float64{right, up, back} {
		r := row{axis[0] / half, axis[1] / half, axis[2] / half, 0}
		r[3] = -(r[0]*(box.Min[0]+box.Max[0])/2 + r[1]*(box.Min[1]+box.Max[1])/2 + r[2]*(box.Min[2]+box.Max[2])/2)
		c.toView[i], c.rotation[i] = r, axis
		c.up[i] = dot(axis, top)
	}
	c.areas = 1 / half / half
	c.floor = -math.Abs(dot(size, top)) / 2 / half
	c.distance = math.Sqrt(3)/math.Sin(fieldOfView/2*math.Pi/180) + 0.1
	c.fit(m.Positions, used, runs)
	for i := range c.across {
		c.across[i] = c.toView[0][i] * c.zoom * subsample
		c.down[i] = -c.toView[1][i] * c.zoom * subsample
		c.away[i] = -c.toView[2][i]
	}
	c.away[3] += c.distance
	return c
}

// fit zooms and shifts so that the mesh fills the image except the margin. runs are the bounding
// boxes of runs of the vertices.
func (c *camera) fit(positions []float32, used vertices, runs []mesh.Box) {
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	v := c.toView
	// beyond reports whether a point is outside of the current range. It does not divide.
	beyond := func(px, py, pz float64) bool {
		w, x, y := c.distance-v[2].of(px, py, pz), v[0].of(px, py, pz), v[1].of(px, py, pz)
		return x < lowX*w || x > highX*w || y < lowY*w || y > highY*w
	}
	for i, box := range runs {
		// All points in a box are in range if its corners are. This applies to most boxes.
		a, b := box.Min, box.Max
		if !beyond(a[0], a[1], a[2]) && !beyond(b[0], a[1], a[2]) && !beyond(a[0], b[1], a[2]) && !beyond(b[0], b[1], a[2]) &&
			!beyond(a[0], a[1], b[2]) && !beyond(b[0], a[1], b[2]) && !beyond(a[0], b[1], b[2]) && !beyond(b[0], b[1], b[2]) {
			continue
		}
		for j := i * run; j < min((i+1)*run, len(positions)/3); j++ {
			p := positions[3*j : 3*j+3 : 3*j+3]
			px, py, pz := float64(p[0]), float64(p[1]), float64(p[2])
			if beyond(px, py, pz) && used.has(j) {
				w := c.distance - v[2].of(px, py, pz)
				x, y := v[0].of(px, py, pz)/w, v[1].of(px, py, pz)/w
				lowX, highX = min(lowX, x), max(highX, x)
				lowY, highY = min(lowY, y), max(highY, y)
			}
		}
	}
	if lowX > highX {
		lowX, highX, lowY, highY = 0, 0, 0, 0
	}
	room := 1 - 2*margin
	c.zoom = min(room*c.width/max(highX-lowX, 1e-9), room*c.height/max(highY-lowY, 1e-9), maxZoom*min(c.width, c.height))
	c.shiftX = c.width/2 - c.zoom*(lowX+highX)/2
	c.shiftY = c.height/2 + c.zoom*(lowY+highY)/2
}

// seen is a projected vertex: its coordinates in subsamples, and its nearness (1 / distance), which
// is linear in the image.
type seen struct {
	x, y int32
	near float32
}

// subsample is the number of subsamples between two samples.
const subsample = 16

// project maps a position to the image.
func (c *camera) project(x, y, z float64) seen {
	w := 1 / c.away.of(x, y, z)
	// Makes all values positive, because the conversion truncates towards zero.
	const positive = 1 << 16
	return seen{
		int32(c.across.of(x, y, z)*w+c.shiftX*subsample+(positive+0.5)) - positive,
		int32(c.down.of(x, y, z)*w+c.shiftY*subsample+(positive+0.5)) - positive,
		float32(w),
	}
}

// turn maps a direction to camera space.
func (c *camera) turn(x, y, z float64) direction {
	right, up, back := &c.rotation[0], &c.rotation[1], &c.rotation[2]
	return direction{
		float32(right[0]*x + right[1]*y + right[2]*z),
		float32(up[0]*x + up[1]*y + up[2]*z),
		float32(back[0]*x + back[1]*y + back[2]*z),
	}
}

// vertices is the set of vertices that are drawn; nil means all. Unused vertices must not affect
// the zoom.
type vertices []uint64

func usedVertices(m *mesh.Mesh) vertices {
	if m.Indices == nil || m.Normals != nil || m.Cloud {
		return nil // Shaded drops unused vertices
	}
	used := make(vertices, m.Vertices()/64+1)
	for _, i := range m.Indices {
		used[i/64] |= 1 << (i % 64)
	}
	count := 0
	for _, word := range used {
		count += bits.OnesCount64(word)
	}
	if count == m.Vertices() {
		return nil
	}
	return used
}

func (v vertices) has(i int) bool { return v == nil || v[i/64]&(1<<(i%64)) != 0 }

// run is the number of vertices that share a bounding box in fit.
const run = 512

// runs returns the bounding box of each run of vertices. Without used vertices it is inverted.
func (v vertices) runs(positions []float32) []mesh.Box {
	boxes := make([]mesh.Box, (len(positions)/3+run-1)/run)
	for i := range boxes {
		part := positions[3*i*run : min(3*(i+1)*run, len(positions)/3*3)]
		if v == nil {
			boxes[i] = (&mesh.Mesh{Positions: part}).Box()
			continue
		}
		boxes[i] = empty
		for j := range len(part) / 3 {
			if v.has(i*run + j) {
				boxes[i] = around(boxes[i], (&mesh.Mesh{Positions: part[3*j : 3*j+3]}).Box())
			}
		}
	}
	return boxes
}

// empty is the box around nothing.
var empty = mesh.Box{
	Min: [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)},
	Max: [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)},
}

// around returns the box around two boxes.
func around(a, b mesh.Box) mesh.Box {
	for k := range 3 {
		a.Min[k], a.Max[k] = min(a.Min[k], b.Min[k]), max(a.Max[k], b.Max[k])
	}
	return a
}

// union returns the box around all boxes, or that of the point zero if they are empty.
func union(boxes []mesh.Box) mesh.Box {
	all := empty
	for _, box := range boxes {
		all = around(all, box)
	}
	if all == empty {
		return mesh.Box{}
	}
	return all
}
