package geometry

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Faces builds a mesh from a list of vertices and of faces with any number of corners, as PLY and
// OFF files have them. Faces may have colors if vertices have none.
type Faces struct {
	title     string // names the file format in error messages
	limits    mesh.Limits
	Mesh      *mesh.Mesh
	missing   int64   // number of vertices with a coordinate that is not finite
	Corners   []int64 // of the current face or strip; decoders fill it before AddFace and AddStrips
	points    [][3]float64
	triangles []uint32 // triangles of the current face, as indices into Corners
	paint     []uint32 // the color of each triangle; nil while all are NoColor
}

// NewFaces returns a Faces for a file of the given format.
func NewFaces(format mesh.Format, limits mesh.Limits) *Faces {
	return &Faces{title: format.Title(), limits: limits, Mesh: &mesh.Mesh{Format: format, Unit: 1}}
}

// ReadVertices calls read to add count vertices with AddVertex. The caller has checked that the
// file has enough bytes for them. If the vertices turn out to be so far from zero that single
// precision would lose detail, ReadVertices sets Mesh.Origin and calls read again.
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
		p.Mesh.Origin, p.Mesh.Positions, p.Mesh.Colors, p.missing = origin, p.Mesh.Positions[:0], p.Mesh.Colors[:0], 0
	}
	if p.missing > 0 && p.missing == count {
		return mesh.Errorf(mesh.Malformed, "None of the %d vertices of the %s file has coordinates that are finite numbers.",
			count, p.title)
	}
	return nil
}

// Grow reserves memory for triangles. The caller has checked that the file has enough bytes for
// them.
func (p *Faces) Grow(triangles int64) {
	p.Mesh.Indices = slices.Grow(p.Mesh.Indices, int(3*min(triangles, p.limits.Triangles)))
}

// AddVertex adds a vertex. A coordinate out of range is a *mesh.Error. A vertex with a coordinate
// that is not finite keeps its number, and is dropped at the end with its faces: scanners write it
// for a point that they did not see.
func (p *Faces) AddVertex(at [3]float64, box *Bounds) error {
	if !Finite(at) {
		p.missing++
		nan := float32(math.NaN())
		p.Mesh.Positions = append(p.Mesh.Positions, nan, nan, nan)
		return nil
	}
	if !box.Add(at) {
		return mesh.Errorf(mesh.Malformed,
			"Vertex %d of the %s file, counted from 0, has a coordinate farther than %g from zero.",
			p.Mesh.Vertices(), p.title, MaxCoordinate)
	}
	o := p.Mesh.Origin
	p.Mesh.Positions = append(p.Mesh.Positions, float32(at[0]-o[0]), float32(at[1]-o[1]), float32(at[2]-o[2]))
	return nil
}

// SetColor sets the color of the last vertex. Vertices before it without a color get NoColor.
func (p *Faces) SetColor(color uint32) {
	if p.Mesh.Colors == nil {
		p.Mesh.Colors = make([]uint8, 0, 4*cap(p.Mesh.Positions)/3)
	}
	for len(p.Mesh.Colors) < 4*p.Mesh.Vertices()-4 {
		p.Mesh.Colors = binary.LittleEndian.AppendUint32(p.Mesh.Colors, NoColor)
	}
	p.Mesh.Colors = binary.LittleEndian.AppendUint32(p.Mesh.Colors, color)
}

// AddFace adds the polygon in Corners as n - 2 triangles. It ignores points and edges, which some
// programs write as faces.
func (p *Faces) AddFace(color uint32) error {
	n := len(p.Corners)
	switch {
	case n < 3:
		return nil
	case n == 3:
		return p.triangle(p.Corners[0], p.Corners[1], p.Corners[2], color)
	case int64(n-2) > p.limits.Triangles: // before allocating memory for them
		return p.tooMany()
	}
	p.points = p.points[:0]
	for _, v := range p.Corners {
		if p.isMissing(v) {
			return nil
		}
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

// AddStrips adds the triangle strips in Corners. A corner of -1 starts a new strip.
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
			a, b = b, a // every second triangle has the opposite orientation
		}
		if err := p.triangle(a, b, v, color); err != nil {
			return err
		}
	}
	return nil
}

func (p *Faces) triangle(a, b, c int64, color uint32) error {
	m := p.Mesh
	if p.missing > 0 && (p.isMissing(a) || p.isMissing(b) || p.isMissing(c)) {
		return nil
	}
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

func (p *Faces) isMissing(vertex int64) bool {
	return math.IsNaN(float64(p.Mesh.Positions[3*vertex]))
}

// Finite reports whether all coordinates are finite: otherwise one minus itself is NaN.
func Finite(at [3]float64) bool {
	return (at[0]-at[0])+(at[1]-at[1])+(at[2]-at[2]) == 0
}

func (p *Faces) tooMany() error {
	return mesh.Errorf(mesh.TooLarge, "The %s file has too many triangles: at most %d are supported.", p.title,
		p.limits.Triangles)
}

// Finish returns the mesh. Without triangles it is a point cloud; otherwise vertices without a face
// are dropped.
func (p *Faces) Finish() *mesh.Mesh {
	if p.Mesh.Colors != nil {
		// the last vertices have no color
		p.Mesh.Colors = append(p.Mesh.Colors, bytes.Repeat([]byte{0xFF}, 4*p.Mesh.Vertices()-len(p.Mesh.Colors))...)
	}
	if len(p.Mesh.Indices) == 0 {
		p.Mesh.Cloud, p.Mesh.Indices = true, nil
	}
	p.dropUnused()
	if p.paint != nil {
		p.paintFaces()
	}
	return p.Mesh
}

// dropUnused removes the vertices that are not shown: those without a face, or the missing vertices
// of a point cloud.
func (p *Faces) dropUnused() {
	m := p.Mesh
	if m.Cloud && p.missing == 0 {
		return
	}
	used := make([]bool, m.Vertices())
	for _, v := range m.Indices {
		used[v] = true
	}
	for v := range used {
		used[v] = used[v] || m.Cloud && !p.isMissing(int64(v))
	}
	if !slices.Contains(used, false) {
		return
	}
	numbers := make([]uint32, len(used)) // the new number of each vertex
	kept := 0
	for v := range used {
		if !used[v] {
			continue
		}
		copy(m.Positions[3*kept:], m.Positions[3*v:3*v+3])
		if m.Colors != nil {
			copy(m.Colors[4*kept:], m.Colors[4*v:4*v+4])
		}
		numbers[v] = uint32(kept)
		kept++
	}
	m.Positions, m.Colors = m.Positions[:3*kept], m.Colors[:min(4*kept, len(m.Colors))]
	for i, v := range m.Indices {
		m.Indices[i] = numbers[v]
	}
}

// paintFaces duplicates vertices so that each has one color.
func (p *Faces) paintFaces() {
	m := p.Mesh
	s := Shape{newest: make([]uint32, m.Vertices())}
	for corner, v := range m.Indices {
		m.Indices[corner] = s.Output(v, p.paint[corner/3])
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
