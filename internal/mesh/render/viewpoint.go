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
	s := scatterOf(m, size)
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

// scatterOf samples the vertices of a mesh of a size.
func scatterOf(m *mesh.Mesh, size [3]float64) scatter {
	longest := max(size[0], size[1], size[2])
	if longest == 0 {
		return scatter{}
	}
	const some = 4096
	step := max(1, m.Vertices()/some)
	var mx, my, mz, n float64
	for v := 0; v < m.Vertices(); v += step {
		p := m.At(uint32(v))
		mx, my, mz, n = mx+float64(p[0]), my+float64(p[1]), mz+float64(p[2]), n+1
	}
	mx, my, mz = mx/n, my/n, mz/n
	scale := 1 / longest
	var xx, yy, zz, xy, xz, yz float64
	for v := 0; v < m.Vertices(); v += step {
		p := m.At(uint32(v))
		x, y, z := (float64(p[0])-mx)*scale, (float64(p[1])-my)*scale, (float64(p[2])-mz)*scale
		xx, yy, zz, xy, xz, yz = xx+x*x, yy+y*y, zz+z*z, xy+x*y, xz+x*z, yz+y*z
	}
	return scatter{xx / n, yy / n, zz / n, xy / n, xz / n, yz / n}
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
