package render

import (
	"math"

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

	// From a position to its projected place in subsamples before the division by the distance, and
	// to that distance.
	across, down, away row

	rotation [3][3]float64 // rotates directions to camera space
}

const (
	fieldOfView = 28.0 // in degrees; long focal lengths distort less
	margin      = 0.07 // fraction of the image on each side
	// maxZoom limits the enlargement of very thin meshes: those that fill a fortieth of the image
	// stay so.
	maxZoom = 40
)

// look places a camera for a mesh.
func look(m *mesh.Mesh, width, height int) *camera {
	c := &camera{width: float64(width), height: float64(height)}
	used := usedVertices(m)
	// Without Origin, which would exceed the precision for a small mesh.
	box := used.box(m.Positions)
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
	c.floor = -math.Abs(dot(size, top)) / 2 / half
	c.distance = math.Sqrt(3)/math.Sin(fieldOfView/2*math.Pi/180) + 0.1
	c.fit(m.Positions, used)
	for i := range c.across {
		c.across[i] = c.toView[0][i] * c.zoom * subsample
		c.down[i] = -c.toView[1][i] * c.zoom * subsample
		c.away[i] = -c.toView[2][i]
	}
	c.away[3] += c.distance
	return c
}

// fit zooms and shifts so that the mesh fills the image except the margin.
func (c *camera) fit(positions []float32, used vertices) {
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	v := c.toView
	for i := 0; len(positions) >= 3; i++ {
		px, py, pz := float64(positions[0]), float64(positions[1]), float64(positions[2])
		positions = positions[3:]
		w := c.distance - v[2].of(px, py, pz)
		x, y := v[0].of(px, py, pz), v[1].of(px, py, pz)
		// Most points are within the range of those before, which is tested without a division.
		if (x < lowX*w || x > highX*w || y < lowY*w || y > highY*w) && used.has(i) {
			x, y = x/w, y/w
			lowX, highX = min(lowX, x), max(highX, x)
			lowY, highY = min(lowY, y), max(highY, y)
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

// seen is a projected vertex: its place in subsamples, and its nearness, which is linear in the
// image.
type seen struct {
	x, y int32
	near float32
}

// subsample is the number of places between two samples.
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
func (c *camera) turn(d [3]float64) direction {
	return vector([3]float64{dot(c.rotation[0], d), dot(c.rotation[1], d), dot(c.rotation[2], d)})
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
	return used
}

func (v vertices) has(i int) bool { return v == nil || v[i/64]&(1<<(i%64)) != 0 }

// box returns the bounding box of the set.
func (v vertices) box(positions []float32) mesh.Box {
	if v == nil {
		return (&mesh.Mesh{Positions: positions}).Box()
	}
	low := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}
	high := [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for i := range len(positions) / 3 {
		if v.has(i) {
			for k := range 3 {
				x := float64(positions[3*i+k])
				low[k], high[k] = min(low[k], x), max(high[k], x)
			}
		}
	}
	if low[0] > high[0] {
		return mesh.Box{}
	}
	return mesh.Box{Min: low, Max: high}
}
