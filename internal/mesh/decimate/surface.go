package decimate

import (
	"context"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// vector is a point or a direction in a frame.
type vector [3]float64

func (u vector) plus(v vector) vector   { return vector{u[0] + v[0], u[1] + v[1], u[2] + v[2]} }
func (u vector) minus(v vector) vector  { return vector{u[0] - v[0], u[1] - v[1], u[2] - v[2]} }
func (u vector) times(x float64) vector { return vector{u[0] * x, u[1] * x, u[2] * x} }
func (u vector) dot(v vector) float64   { return u[0]*v[0] + u[1]*v[1] + u[2]*v[2] }
func (u vector) cross(v vector) vector {
	return vector{u[1]*v[2] - u[2]*v[1], u[2]*v[0] - u[0]*v[2], u[0]*v[1] - u[1]*v[0]}
}

// frame maps the box of a mesh to coordinates from -1 to 1 around its center. The scale is a power
// of two, so that an unmoved point is restored exactly.
type frame struct {
	middle vector
	scale  float64
}

func newFrame(box mesh.Box, origin [3]float64) frame {
	f := frame{scale: 1}
	widest := 0.0
	for i, side := range box.Size() {
		f.middle[i] = float64(float32((box.Min[i]+box.Max[i])/2 - origin[i]))
		widest = max(widest, side)
	}
	if widest > 0 {
		_, exponent := math.Frexp(widest)
		f.scale = math.Ldexp(1, -exponent)
	}
	return f
}

func (f frame) in(p [3]float32) vector {
	return vector{(float64(p[0]) - f.middle[0]) * f.scale, (float64(p[1]) - f.middle[1]) * f.scale,
		(float64(p[2]) - f.middle[2]) * f.scale}
}

func (f frame) out(v vector) [3]float32 {
	return [3]float32{float32(v[0]/f.scale + f.middle[0]), float32(v[1]/f.scale + f.middle[1]),
		float32(v[2]/f.scale + f.middle[2])}
}

// surface is a set of triangles that share vertices by position. Colors belong to corners, so that
// several can meet at a vertex.
type surface struct {
	positions []vector
	corners   []uint32 // three different vertices of each triangle
	colors    []uint32 // of each corner, red in the lowest byte; nil if there are none
}

func (s *surface) triangles() int { return len(s.corners) / 3 }

// weld converts a mesh to a surface. It moves no vertex, and drops triangles with two equal
// corners.
func weld(ctx context.Context, m *mesh.Mesh, f frame) (*surface, error) {
	plain := *m
	plain.Colors = nil
	w := plain.Weld()
	s := &surface{positions: make([]vector, w.Vertices()), corners: w.Indices[:0]}
	for v := range s.positions {
		if v%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.positions[v] = f.in(w.At(uint32(v)))
	}
	if m.Colors != nil {
		s.colors = make([]uint32, 0, len(w.Indices))
	}
	for t := range m.Triangles() {
		if t%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a, b, c := w.Corners(t)
		if a == b || b == c || c == a {
			continue
		}
		s.corners = append(s.corners, a, b, c)
		if s.colors != nil {
			a, b, c = m.Corners(t)
			s.colors = append(s.colors, color(m, a), color(m, b), color(m, c))
		}
	}
	return s, nil
}

func color(m *mesh.Mesh, v uint32) uint32 {
	c := m.Colors[4*v : 4*v+4]
	return uint32(c[0]) | uint32(c[1])<<8 | uint32(c[2])<<16 | uint32(c[3])<<24
}

// mix interpolates two colors: a if share is 0, b if it is 1.
func mix(a, b uint32, share float64) (c uint32) {
	for shift := 0; shift < 32; shift += 8 {
		x, y := float64(a>>shift&255), float64(b>>shift&255)
		c |= uint32(x+(y-x)*share+0.5) << shift
	}
	return c
}

// contrast returns the squared distance of two colors, 0 to 4.
func contrast(a, b uint32) (sum float64) {
	for shift := 0; shift < 32; shift += 8 {
		d := (float64(a>>shift&255) - float64(b>>shift&255)) / 255
		sum += d * d
	}
	return sum
}

// mesh converts the surface to an indexed mesh with the other properties of like.
func (s *surface) mesh(like *mesh.Mesh, f frame) *mesh.Mesh {
	soup := *like
	soup.Indices, soup.Normals, soup.Colors, soup.Patches = nil, nil, nil, nil
	soup.Positions = make([]float32, 0, 3*len(s.corners))
	if s.colors != nil {
		soup.Colors = make([]uint8, 0, 4*len(s.corners))
	}
	for i, v := range s.corners {
		p := f.out(s.positions[v])
		soup.Positions = append(soup.Positions, p[:]...)
		if s.colors != nil {
			c := s.colors[i]
			soup.Colors = append(soup.Colors, uint8(c), uint8(c>>8), uint8(c>>16), uint8(c>>24))
		}
	}
	return soup.Weld()
}
