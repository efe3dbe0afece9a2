package decode

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
)

// polygons makes a mesh of numbered vertices and of faces with any number of corners, as PLY and OFF files have them. Where vertices have
// no colours faces may have them.
type polygons struct {
	title     string // of the format
	limits    mesh.Limits
	m         *mesh.Mesh
	corners   []int64 // of the face or the strips that are read
	points    [][3]float64
	triangles []uint32 // those of the face, as places in corners
	paint     []uint32 // the colour of each triangle; nil while all are plain
}

func newPolygons(format mesh.Format, limits mesh.Limits) *polygons {
	return &polygons{title: title(format), limits: limits, m: &mesh.Mesh{Format: format, Unit: 1}}
}

// vertices reads so many vertices, for which there must be bytes in the file: again, when it is known where they are, if they are so far
// from zero that single precision would lose what the file says.
func (p *polygons) vertices(count int64, read func(*extent) error) error {
	if most := 3 * p.limits.Triangles; count > most {
		return mesh.Errorf(mesh.TooLarge, "The %s file has %d vertices, and at most %d are read.", p.title, count, most)
	}
	p.m.Positions = make([]float32, 0, 3*count)
	for range 2 {
		var box extent
		if err := read(&box); err != nil {
			return err
		}
		origin := box.origin()
		if origin == p.m.Origin {
			break
		}
		p.m.Origin, p.m.Positions, p.m.Colors = origin, p.m.Positions[:0], p.m.Colors[:0]
	}
	return nil
}

// expect makes room for so many triangles, for which there must be bytes in the file.
func (p *polygons) expect(triangles int64) {
	p.m.Indices = slices.Grow(p.m.Indices, int(3*min(triangles, p.limits.Triangles)))
}

// vertex adds a vertex.
func (p *polygons) vertex(at [3]float64, box *extent) error {
	if !box.add(at) {
		return mesh.Errorf(mesh.Malformed, "Vertex %d of the %s file, counted from 0, has a coordinate that is no number or farther than %g from zero.",
			p.m.Vertices(), p.title, farthest)
	}
	o := p.m.Origin
	p.m.Positions = append(p.m.Positions, float32(at[0]-o[0]), float32(at[1]-o[1]), float32(at[2]-o[2]))
	return nil
}

// color gives the vertex that was added last a colour. Those before it that have none are plain.
func (p *polygons) color(color uint32) {
	if p.m.Colors == nil {
		p.m.Colors = make([]uint8, 0, 4*cap(p.m.Positions)/3)
	}
	for len(p.m.Colors) < 4*p.m.Vertices()-4 {
		p.m.Colors = binary.LittleEndian.AppendUint32(p.m.Colors, plain)
	}
	p.m.Colors = binary.LittleEndian.AppendUint32(p.m.Colors, color)
}

// face ends the face that was read: n corners are n - 2 triangles. A point or an edge, which some programs write as a face, is none.
func (p *polygons) face(color uint32) error {
	n := len(p.corners)
	switch {
	case n < 3:
		return nil
	case n == 3:
		return p.triangle(p.corners[0], p.corners[1], p.corners[2], color)
	case int64(n-2) > p.limits.Triangles: // before anything is made for them
		return p.tooMany()
	}
	p.points = p.points[:0]
	for _, v := range p.corners {
		at := p.m.At(uint32(v))
		p.points = append(p.points, [3]float64{float64(at[0]), float64(at[1]), float64(at[2])})
	}
	p.triangles = p.triangles[:0]
	triangulate(p.points, func(a, b, c int) { p.triangles = append(p.triangles, uint32(a), uint32(b), uint32(c)) })
	for t := p.triangles; len(t) >= 3; t = t[3:] {
		if err := p.triangle(p.corners[t[0]], p.corners[t[1]], p.corners[t[2]], color); err != nil {
			return err
		}
	}
	return nil
}

// strips ends strips of triangles, each of which shares two corners with the one before. A corner of -1 starts a new strip.
func (p *polygons) strips(color uint32) error {
	first := 0
	for i, v := range p.corners {
		if v < 0 {
			first = i + 1
			continue
		}
		if i-first < 2 {
			continue
		}
		a, b := p.corners[i-2], p.corners[i-1]
		if (i-first)%2 == 1 {
			a, b = b, a // each other triangle is the other way round
		}
		if err := p.triangle(a, b, v, color); err != nil {
			return err
		}
	}
	return nil
}

func (p *polygons) triangle(a, b, c int64, color uint32) error {
	m := p.m
	if int64(len(m.Indices)/3) >= p.limits.Triangles {
		return p.tooMany()
	}
	m.Indices = append(m.Indices, uint32(a), uint32(b), uint32(c))
	if m.Colors == nil && (color != plain || p.paint != nil) {
		for len(p.paint) < len(m.Indices)/3-1 {
			p.paint = append(p.paint, plain)
		}
		p.paint = append(p.paint, color)
	}
	return nil
}

func (p *polygons) tooMany() error {
	return mesh.Errorf(mesh.TooLarge, "The %s file has more than %d triangles, which is the most that is read.", p.title, p.limits.Triangles)
}

// finish gives the mesh.
func (p *polygons) finish() *mesh.Mesh {
	if p.m.Colors != nil {
		p.m.Colors = append(p.m.Colors, bytes.Repeat([]byte{0xFF}, 4*p.m.Vertices()-len(p.m.Colors))...) // the last vertices have none
	}
	if len(p.m.Indices) == 0 {
		p.m.Cloud, p.m.Indices = true, nil
		return p.m
	}
	if p.paint != nil {
		p.paintFaces()
	}
	return p.m
}

// paintFaces makes a vertex for each colour that meets in a place. Vertices without a face stay.
func (p *polygons) paintFaces() {
	m := p.m
	s := solid{newest: make([]uint32, m.Vertices())}
	for corner, v := range m.Indices {
		m.Indices[corner] = s.at(v, p.paint[corner/3])
	}
	for v := range s.newest {
		if s.newest[v] == 0 {
			s.at(uint32(v), plain)
		}
	}
	positions := make([]float32, 0, 3*len(s.from))
	m.Colors = make([]uint8, 0, 4*len(s.from))
	for place, v := range s.from {
		at := m.At(v)
		positions = append(positions, at[:]...)
		m.Colors = binary.LittleEndian.AppendUint32(m.Colors, s.paint[place])
	}
	m.Positions = positions
}

// guessColor makes a colour of red, green, blue and alpha, which are fractions up to 1, or bytes where one is larger. Alpha is told by
// itself, for some write it so. An alpha that is not a number is opaque, and a colour like that is plain.
func guessColor(c [4]float64) uint32 {
	if math.IsNaN(c[0] + c[1] + c[2]) {
		return plain
	}
	const aboveFractions = 1.5 // a little more than 1 is rounding
	scale, alpha := 1.0, 1.0
	if max(c[0], c[1], c[2]) > aboveFractions {
		scale = 255
	}
	if c[3] <= aboveFractions {
		alpha = c[3]
	} else if c[3] > aboveFractions {
		alpha = c[3] / 255
	}
	return rgba(c[0]/scale, c[1]/scale, c[2]/scale, alpha)
}
