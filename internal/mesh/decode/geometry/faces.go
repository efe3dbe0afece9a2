package geometry

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
)

// polygons makes a mesh of numbered vertices and of faces with any number of corners, as PLY and OFF files have them. Where vertices have
// no colours faces may have them.
type Faces struct {
	title     string // of the format
	limits    mesh.Limits
	Mesh      *mesh.Mesh
	Corners   []int64 // of the face or the strips that are read
	points    [][3]float64
	triangles []uint32 // those of the face, as places in corners
	paint     []uint32 // the colour of each triangle; nil while all are plain
}

func NewFaces(format mesh.Format, limits mesh.Limits) *Faces {
	return &Faces{title: format.Title(), limits: limits, Mesh: &mesh.Mesh{Format: format, Unit: 1}}
}

// vertices reads so many vertices, for which there must be bytes in the file: again, when it is known where they are, if they are so far
// from zero that single precision would lose what the file says.
func (p *Faces) ReadVertices(count int64, read func(*Bounds) error) error {
	if most := 3 * p.limits.Triangles; count > most {
		return mesh.Errorf(mesh.TooLarge, "The %s file has %d vertices, and at most %d are read.", p.title, count, most)
	}
	p.Mesh.Positions = make([]float32, 0, 3*count)
	for range 2 {
		var box Bounds
		if err := read(&box); err != nil {
			return err
		}
		origin := box.Origin()
		if origin == p.Mesh.Origin {
			break
		}
		p.Mesh.Origin, p.Mesh.Positions, p.Mesh.Colors = origin, p.Mesh.Positions[:0], p.Mesh.Colors[:0]
	}
	return nil
}

// expect makes room for so many triangles, for which there must be bytes in the file.
func (p *Faces) Grow(triangles int64) {
	p.Mesh.Indices = slices.Grow(p.Mesh.Indices, int(3*min(triangles, p.limits.Triangles)))
}

// vertex adds a vertex.
func (p *Faces) AddVertex(at [3]float64, box *Bounds) error {
	if !box.Add(at) {
		return mesh.Errorf(mesh.Malformed, "Vertex %d of the %s file, counted from 0, has a coordinate that is no number or farther than %g from zero.",
			p.Mesh.Vertices(), p.title, MaxCoordinate)
	}
	o := p.Mesh.Origin
	p.Mesh.Positions = append(p.Mesh.Positions, float32(at[0]-o[0]), float32(at[1]-o[1]), float32(at[2]-o[2]))
	return nil
}

// color gives the vertex that was added last a colour. Those before it that have none are plain.
func (p *Faces) SetColor(color uint32) {
	if p.Mesh.Colors == nil {
		p.Mesh.Colors = make([]uint8, 0, 4*cap(p.Mesh.Positions)/3)
	}
	for len(p.Mesh.Colors) < 4*p.Mesh.Vertices()-4 {
		p.Mesh.Colors = binary.LittleEndian.AppendUint32(p.Mesh.Colors, NoColor)
	}
	p.Mesh.Colors = binary.LittleEndian.AppendUint32(p.Mesh.Colors, color)
}

// face ends the face that was read: n corners are n - 2 triangles. A point or an edge, which some programs write as a face, is none.
func (p *Faces) AddFace(color uint32) error {
	n := len(p.Corners)
	switch {
	case n < 3:
		return nil
	case n == 3:
		return p.triangle(p.Corners[0], p.Corners[1], p.Corners[2], color)
	case int64(n-2) > p.limits.Triangles: // before anything is made for them
		return p.tooMany()
	}
	p.points = p.points[:0]
	for _, v := range p.Corners {
		at := p.Mesh.At(uint32(v))
		p.points = append(p.points, [3]float64{float64(at[0]), float64(at[1]), float64(at[2])})
	}
	p.triangles = p.triangles[:0]
	Triangulate(p.points, func(a, b, c int) { p.triangles = append(p.triangles, uint32(a), uint32(b), uint32(c)) })
	for t := p.triangles; len(t) >= 3; t = t[3:] {
		if err := p.triangle(p.Corners[t[0]], p.Corners[t[1]], p.Corners[t[2]], color); err != nil {
			return err
		}
	}
	return nil
}

// strips ends strips of triangles, each of which shares two corners with the one before. A corner of -1 starts a new strip.
func (p *Faces) AddStrips(color uint32) error {
	first := 0
	for i, v := range p.Corners {
		if v < 0 {
			first = i + 1
			continue
		}
		if i-first < 2 {
			continue
		}
		a, b := p.Corners[i-2], p.Corners[i-1]
		if (i-first)%2 == 1 {
			a, b = b, a // each other triangle is the other way round
		}
		if err := p.triangle(a, b, v, color); err != nil {
			return err
		}
	}
	return nil
}

func (p *Faces) triangle(a, b, c int64, color uint32) error {
	m := p.Mesh
	if int64(len(m.Indices)/3) >= p.limits.Triangles {
		return p.tooMany()
	}
	m.Indices = append(m.Indices, uint32(a), uint32(b), uint32(c))
	if m.Colors == nil && (color != NoColor || p.paint != nil) {
		for len(p.paint) < len(m.Indices)/3-1 {
			p.paint = append(p.paint, NoColor)
		}
		p.paint = append(p.paint, color)
	}
	return nil
}

func (p *Faces) tooMany() error {
	return mesh.Errorf(mesh.TooLarge, "The %s file has more than %d triangles, which is the most that is read.", p.title, p.limits.Triangles)
}

// finish gives the mesh.
func (p *Faces) Finish() *mesh.Mesh {
	if p.Mesh.Colors != nil {
		p.Mesh.Colors = append(p.Mesh.Colors, bytes.Repeat([]byte{0xFF}, 4*p.Mesh.Vertices()-len(p.Mesh.Colors))...) // the last vertices have none
	}
	if len(p.Mesh.Indices) == 0 {
		p.Mesh.Cloud, p.Mesh.Indices = true, nil
		return p.Mesh
	}
	if p.paint != nil {
		p.paintFaces()
	}
	return p.Mesh
}

// paintFaces makes a vertex for each colour that meets in a place. Vertices without a face stay.
func (p *Faces) paintFaces() {
	m := p.Mesh
	s := Shape{newest: make([]uint32, m.Vertices())}
	for corner, v := range m.Indices {
		m.Indices[corner] = s.Output(v, p.paint[corner/3])
	}
	for v := range s.newest {
		if s.newest[v] == 0 {
			s.Output(uint32(v), NoColor)
		}
	}
	positions := make([]float32, 0, 3*len(s.Sources))
	m.Colors = make([]uint8, 0, 4*len(s.Sources))
	for place, v := range s.Sources {
		at := m.At(v)
		positions = append(positions, at[:]...)
		m.Colors = binary.LittleEndian.AppendUint32(m.Colors, s.Colors[place])
	}
	m.Positions = positions
}
