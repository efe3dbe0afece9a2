package render

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// camera maps positions of a mesh to the picture. In its own space the mesh is some 2 units large around zero; x is to the right, y up and z towards the viewer.
type camera struct {
	width, height float64 // samples
	// toView maps a position to camera space: three rows of a 3×4 matrix.
	toView [3][4]float64
	// distance is from the viewer to zero.
	distance float64
	// A point of camera space that is w away is seen at x·zoom/w + shiftX, shiftY - y·zoom/w, in samples.
	zoom, shiftX, shiftY float64
	up                   [3]float64 // in camera space
	floor                float64    // the lowest place of the mesh along up
}

const (
	fieldOfView = 28.0 // degrees; long lenses flatter
	margin      = 0.07 // of the picture, on each side
)

// look places a camera for a mesh. Broad faces are turned to it: a plate that lies is seen from higher above, one that stands from its broad side.
func look(m *mesh.Mesh, width, height int) *camera {
	c := &camera{width: float64(width), height: float64(height)}
	box := m.Box()
	size := box.Size()
	front, side, top := axes(m.Up) // unit vectors of the file
	wide, deep, high := math.Abs(dot(size, side)), math.Abs(dot(size, front)), math.Abs(dot(size, top))
	azimuth, elevation := 32.0, 26.0
	if wide < deep*0.6 {
		azimuth = 58 // its right side is the broad one
	}
	if high < 0.12*math.Max(wide, deep) {
		elevation = 52
	}
	sinA, cosA := math.Sincos(azimuth * math.Pi / 180)
	sinE, cosE := math.Sincos(elevation * math.Pi / 180)
	// From the mesh to the viewer.
	back := sum(scaled(front, cosA*cosE), scaled(side, sinA*cosE), scaled(top, sinE))
	right := unit(cross(top, back))
	up := cross(back, right)
	half := math.Max(size[0], math.Max(size[1], size[2])) / 2
	if half == 0 || math.IsInf(half, 0) {
		half = 1
	}
	for row, axis := range [3][3]float64{right, up, back} {
		shift := 0.0
		for i := range 3 {
			c.toView[row][i] = axis[i] / half
			middle := box.Min[i]/2 + box.Max[i]/2 - m.Origin[i]
			shift -= c.toView[row][i] * middle
		}
		c.toView[row][3] = shift
	}
	for i, axis := range [3][3]float64{right, up, back} {
		c.up[i] = dot(axis, top)
	}
	c.floor = -high / 2 / half
	c.distance = math.Sqrt(3)/math.Sin(fieldOfView/2*math.Pi/180) + 0.1
	c.fit(m)
	return c
}

// axes gives what is the front, the right side and the top of a mesh, as directions of its file: as slicers show it.
func axes(up mesh.Up) (front, side, top [3]float64) {
	if up == mesh.UpY {
		return [3]float64{0, 0, 1}, [3]float64{1, 0, 0}, [3]float64{0, 1, 0}
	}
	return [3]float64{0, -1, 0}, [3]float64{1, 0, 0}, [3]float64{0, 0, 1}
}

// fit zooms and shifts so that the mesh fills the picture but for the margin.
func (c *camera) fit(m *mesh.Mesh) {
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for p := m.Positions; len(p) >= 3; p = p[3:] {
		x, y, z := c.view(p)
		w := c.distance - z
		// Most are inside of those before, which is told without a division.
		if x < lowX*w || x > highX*w || y < lowY*w || y > highY*w {
			x, y = x/w, y/w
			lowX, highX = min(lowX, x), max(highX, x)
			lowY, highY = min(lowY, y), max(highY, y)
		}
	}
	if lowX > highX {
		lowX, highX, lowY, highY = 0, 0, 0, 0
	}
	room := 1 - 2*margin
	c.zoom = math.Min(room*c.width/math.Max(highX-lowX, 1e-9), room*c.height/math.Max(highY-lowY, 1e-9))
	// What is next to nothing, a point or a needle seen along it, is not blown up beyond measure.
	c.zoom = math.Min(c.zoom, 40*math.Min(c.width, c.height))
	c.shiftX = c.width/2 - c.zoom*(lowX+highX)/2
	c.shiftY = c.height/2 + c.zoom*(lowY+highY)/2
}

// view maps a position to camera space.
func (c *camera) view(p []float32) (x, y, z float64) {
	_ = p[2]
	px, py, pz := float64(p[0]), float64(p[1]), float64(p[2])
	v := &c.toView
	return v[0][0]*px + v[0][1]*py + v[0][2]*pz + v[0][3],
		v[1][0]*px + v[1][1]*py + v[1][2]*pz + v[1][3],
		v[2][0]*px + v[2][1]*py + v[2][2]*pz + v[2][3]
}

// seen is a vertex on the picture: its place in 1/16 of a sample, and its nearness, which is linear on the picture.
type seen struct {
	x, y int32
	near float32
}

const subsample = 16

// project maps a point of camera space to the picture.
func (c *camera) project(x, y, z float64) seen {
	w := 1 / (c.distance - z)
	return seen{
		int32(math.Floor((x*w*c.zoom+c.shiftX)*subsample + 0.5)),
		int32(math.Floor((c.shiftY-y*w*c.zoom)*subsample + 0.5)),
		float32(w),
	}
}

// direction maps a direction of the file to camera space. Its length is left to the caller.
func (c *camera) direction(n []float32) (x, y, z float64) {
	x, y, z = c.view(n)
	return x - c.toView[0][3], y - c.toView[1][3], z - c.toView[2][3]
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func scaled(a [3]float64, by float64) [3]float64 { return [3]float64{a[0] * by, a[1] * by, a[2] * by} }

func sum(all ...[3]float64) (s [3]float64) {
	for _, a := range all {
		s[0], s[1], s[2] = s[0]+a[0], s[1]+a[1], s[2]+a[2]
	}
	return s
}

func unit(a [3]float64) [3]float64 { return scaled(a, 1/math.Sqrt(dot(a, a))) }
