package demo

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// point is a position in millimeters, with Z up.
type point [3]float64

// flat is a position in the plane of the build plate.
type flat [2]float64

// Shape is a closed surface, or several, of triangles.
type Shape struct{ corners []point }

// triangle adds a triangle, whose corners are counterclockwise seen from outside.
func (s *Shape) triangle(a, b, c point) { s.corners = append(s.corners, a, b, c) }

// quad adds a flat or nearly flat face with four corners.
func (s *Shape) quad(a, b, c, d point) {
	s.triangle(a, b, c)
	s.triangle(a, c, d)
}

// add adds all triangles of another shape, moved.
func (s *Shape) add(o Shape, by point) {
	for _, p := range o.corners {
		s.corners = append(s.corners, point{p[0] + by[0], p[1] + by[1], p[2] + by[2]})
	}
}

// grid returns a surface of u times v faces through at, which is called with values from 0 to 1.
func grid(u, v int, at func(u, v float64) point) (s Shape) {
	for i := range u {
		for j := range v {
			u0, u1 := float64(i)/float64(u), float64(i+1)/float64(u)
			v0, v1 := float64(j)/float64(v), float64(j+1)/float64(v)
			s.quad(at(u0, v0), at(u1, v0), at(u1, v1), at(u0, v1))
		}
	}
	return s
}

// lathe returns a solid that turns a profile of radii and heights around the Z axis. The profile
// begins and ends on the axis. ripple scales the radius at an angle and a height; it may be nil.
func lathe(sides int, ripple func(angle, z float64) float64, profile ...flat) Shape {
	last := float64(len(profile) - 1)
	return grid(sides, len(profile)-1, func(u, v float64) point {
		p, angle := profile[int(math.Round(v*last))], 2*math.Pi*u
		r := p[0]
		if ripple != nil {
			r *= ripple(angle, p[1])
		}
		return point{r * math.Cos(angle), r * math.Sin(angle), p[1]}
	})
}

// plate returns the band between two outlines with as many points, from one height to another. The
// outlines are counterclockwise; closed ones form a ring with a hole.
func plate(outer, inner []flat, closed bool, bottom, top float64) (s Shape) {
	n := len(outer)
	at := func(p flat, z float64) point { return point{p[0], p[1], z} }
	for i := range n {
		j := (i + 1) % n
		if j == 0 && !closed {
			break
		}
		s.quad(at(outer[i], top), at(outer[j], top), at(inner[j], top), at(inner[i], top))
		s.quad(at(outer[j], bottom), at(outer[i], bottom), at(inner[i], bottom), at(inner[j], bottom))
		s.quad(at(outer[i], bottom), at(outer[j], bottom), at(outer[j], top), at(outer[i], top))
		s.quad(at(inner[j], bottom), at(inner[i], bottom), at(inner[i], top), at(inner[j], top))
	}
	if !closed {
		first, last := 0, n-1
		s.quad(at(inner[first], bottom), at(outer[first], bottom), at(outer[first], top), at(inner[first], top))
		s.quad(at(outer[last], bottom), at(inner[last], bottom), at(inner[last], top), at(outer[last], top))
	}
	return s
}

// outline returns n points around the origin at the radius of each angle.
func outline(n int, radius func(angle float64) float64) []flat {
	points := make([]flat, n)
	for i := range points {
		angle := 2 * math.Pi * float64(i) / float64(n)
		r := radius(angle)
		points[i] = flat{r * math.Cos(angle), r * math.Sin(angle)}
	}
	return points
}

// circle returns the radius of a circle for outline.
func circle(r float64) func(float64) float64 { return func(float64) float64 { return r } }

// ribbon returns the two edges of a band of a width along a path, for plate.
func ribbon(path []flat, width float64) (left, right []flat) {
	for i, p := range path {
		a, b := path[max(i-1, 0)], path[min(i+1, len(path)-1)]
		dx, dy := b[0]-a[0], b[1]-a[1]
		l := math.Hypot(dx, dy)
		nx, ny := dy/l*width/2, -dx/l*width/2
		left = append(left, flat{p[0] + nx, p[1] + ny})
		right = append(right, flat{p[0] - nx, p[1] - ny})
	}
	return left, right
}

// arc appends points of an arc around a center to a path.
func arc(path []flat, x, y, r, from, to float64) []flat {
	const n = 24
	for i := range n + 1 {
		angle := from + (to-from)*float64(i)/n
		path = append(path, flat{x + r*math.Cos(angle), y + r*math.Sin(angle)})
	}
	return path
}

// tube returns a tube around a closed curve.
func tube(along, around int, radius float64, at func(t float64) point) Shape {
	return grid(along, around, func(u, v float64) point {
		p, q := at(u), at(u+1e-4)
		t := unit(point{q[0] - p[0], q[1] - p[1], q[2] - p[2]})
		a := unit(cross(t, point{0.1, 0.2, 1}))
		b := cross(t, a)
		sin, cos := math.Sincos(2 * math.Pi * v)
		for i := range p {
			p[i] += radius * (cos*a[i] + sin*b[i])
		}
		return p
	})
}

// box returns a block between two corners.
func box(low, high point) Shape {
	outer := []flat{{low[0], low[1]}, {high[0], low[1]}, {high[0], high[1]}, {low[0], high[1]}}
	x, y := (low[0]+high[0])/2, (low[1]+high[1])/2
	return plate(outer, []flat{{x, y}, {x, y}, {x, y}, {x, y}}, true, low[2], high[2])
}

func cross(a, b point) point {
	return point{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func unit(a point) point {
	l := math.Sqrt(a[0]*a[0] + a[1]*a[1] + a[2]*a[2])
	return point{a[0] / l, a[1] / l, a[2] / l}
}

// STL returns the shape as a binary STL file. Triangles without an area are left out.
func (s Shape) STL() []byte {
	var body bytes.Buffer
	count := uint32(0)
	for i := 0; i < len(s.corners); i += 3 {
		a, b, c := s.corners[i], s.corners[i+1], s.corners[i+2]
		n := cross(point{b[0] - a[0], b[1] - a[1], b[2] - a[2]}, point{c[0] - a[0], c[1] - a[1], c[2] - a[2]})
		if math.Abs(n[0])+math.Abs(n[1])+math.Abs(n[2]) < 1e-9 {
			continue
		}
		count++
		record := make([]byte, 0, 50)
		for _, p := range []point{unit(n), a, b, c} {
			for _, x := range p {
				record = binary.LittleEndian.AppendUint32(record, math.Float32bits(float32(x)))
			}
		}
		body.Write(append(record, 0, 0))
	}
	header := append(make([]byte, 80), 0, 0, 0, 0)
	copy(header, "meshyard demo")
	binary.LittleEndian.PutUint32(header[80:], count)
	return append(header, body.Bytes()...)
}

// Colored returns the shape as a mesh in one color, for a picture of a print.
func (s Shape) Colored(red, green, blue uint8) *mesh.Mesh {
	m := &mesh.Mesh{Format: mesh.STL, Unit: 1}
	for _, p := range s.corners {
		m.Positions = append(m.Positions, float32(p[0]), float32(p[1]), float32(p[2]))
		m.Colors = append(m.Colors, red, green, blue, 255)
	}
	return m
}
