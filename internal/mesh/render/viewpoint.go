package render

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// axes returns the front, the right side and the top of a mesh as directions of its file, as
// slicers show them.
func axes(up mesh.Up) (front, side, top [3]float64) {
	if up == mesh.UpY {
		return [3]float64{0, 0, 1}, [3]float64{1, 0, 0}, [3]float64{0, 1, 0}
	}
	return [3]float64{0, -1, 0}, [3]float64{1, 0, 0}, [3]float64{0, 0, 1}
}

// viewpoint returns the direction from a mesh of a size to its viewer: from the front right and
// above. It turns broad faces towards the viewer: a flat plate is seen from higher above, an
// upright one from its broad side, and a diagonal one from another corner if it would otherwise be
// seen edge-on. The viewer in the browser starts with the same direction.
func viewpoint(m *mesh.Mesh, size [3]float64) [3]float64 {
	front, side, top := axes(m.Up)
	wide, deep, high := math.Abs(dot(size, side)), math.Abs(dot(size, front)), math.Abs(dot(size, top))
	azimuth, elevation := 32.0, 26.0
	if wide < deep*0.6 {
		azimuth = 58 // its right side is the broad one
	}
	if high < 0.12*max(wide, deep) {
		elevation = 52
	}
	from := func(azimuth, elevation float64) [3]float64 {
		sinA, cosA := math.Sincos(azimuth * math.Pi / 180)
		sinE, cosE := math.Sincos(elevation * math.Pi / 180)
		return sum(scaled(front, cosA*cosE), scaled(side, sinA*cosE), scaled(top, sinE))
	}
	usual := from(azimuth, elevation)
	s := scatterOf(m)
	best, most := usual, s.breadth(usual)
	if most == 0 {
		return usual
	}
	for _, a := range []float64{azimuth, 90 - azimuth, -azimuth, azimuth - 90} {
		for _, e := range []float64{elevation, 78 - elevation} {
			if other := from(a, e); s.breadth(other) > most {
				best, most = other, s.breadth(other)
			}
		}
	}
	if s.breadth(usual) < 0.08*most {
		return best
	}
	return usual
}

// scatter is the covariance of the vertices, xx, yy, zz, xy, xz, yz, relative to the size of the
// mesh.
type scatter [6]float64

// scatterOf samples the vertices.
func scatterOf(m *mesh.Mesh) (s scatter) {
	const some = 4096
	step := max(1, m.Vertices()/some)
	var middle [3]float64
	n := 0.0
	for v := 0; v < m.Vertices(); v += step {
		for k := range 3 {
			middle[k] += float64(m.Positions[3*v+k])
		}
		n++
	}
	unit := 0.0
	for v := 0; v < m.Vertices(); v += step {
		for k := range 3 {
			unit = max(unit, math.Abs(float64(m.Positions[3*v+k])-middle[k]/n))
		}
	}
	if unit == 0 {
		return s
	}
	for v := 0; v < m.Vertices(); v += step {
		p := m.Positions[3*v : 3*v+3]
		x, y, z := (float64(p[0])-middle[0]/n)/unit, (float64(p[1])-middle[1]/n)/unit, (float64(p[2])-middle[2]/n)/unit
		for k, product := range [6]float64{x * x, y * y, z * z, x * y, x * z, y * z} {
			s[k] += product / n
		}
	}
	return s
}

// breadth estimates how much of the mesh is visible from a direction: the area of the scattered
// vertices and, as a small term that matters for needles, their length.
func (s scatter) breadth(from [3]float64) float64 {
	xx, yy, zz, xy, xz, yz := s[0], s[1], s[2], s[3], s[4], s[5]
	x, y, z := from[0], from[1], from[2]
	area := x*x*(yy*zz-yz*yz) + y*y*(xx*zz-xz*xz) + z*z*(xx*yy-xy*xy) +
		2*(x*y*(xz*yz-xy*zz)+x*z*(xy*yz-xz*yy)+y*z*(xy*xz-xx*yz))
	along := x*x*xx + y*y*yy + z*z*zz + 2*(x*y*xy+x*z*xz+y*z*yz)
	length := xx + yy + zz - along
	return max(0, area) + 0.001*length*length
}
