// Package mesh holds the geometry of one file, whatever its format was: what readers make, and what pictures, three.js JSON, GLB and
// facts are derived from. It knows no database and no HTTP, and opens no file.
package mesh

import "math"

// Up is the axis that points up in the coordinates of a file.
type Up uint8

// The axes: print formats have Z up, glTF has Y up.
const (
	UpZ Up = iota
	UpY
)

// String gives the axis as three.js writes it, X, Y or Z.
func (u Up) String() string {
	if u == UpY {
		return "Y"
	}
	return "Z"
}

// Mesh is a set of triangles, or a cloud of points where it has none.
type Mesh struct {
	Format Format
	Up     Up
	// Unit is how many millimetres one unit of the coordinates is: 1 where the file does not say, 1000 for glTF's metres.
	Unit float64
	// Origin is added to each position. It is zero but where single precision would lose what a file says, as it does far from zero.
	Origin [3]float64
	// Positions are x, y, z of one vertex after another, in the coordinates and unit of the file, all finite.
	Positions []float32
	// Indices are the three corners of one triangle after another, each less than Vertices(). Where they are nil and Cloud is false,
	// each three vertices are a triangle, as in STL.
	Indices []uint32
	// Colors are red, green, blue, alpha of each vertex (sRGB, straight alpha), or nil where the file has none. Where colours belong to
	// faces or materials, readers give a vertex for each colour that meets in a place.
	Colors []uint8
	// Normals are unit vectors of each vertex, nil as read: Shaded makes them from the geometry, for half of what files say is wrong.
	Normals []float32
	// Cloud tells that there are no faces, and the vertices are to be shown as points.
	Cloud bool
	// Picture is the picture that the file carries of itself, PNG or JPEG as it stands there, unchecked; nil where there is none.
	Picture []byte
}

// Vertices counts the vertices.
func (m *Mesh) Vertices() int { return len(m.Positions) / 3 }

// Triangles counts the triangles, degenerate ones too.
func (m *Mesh) Triangles() int {
	switch {
	case m.Indices != nil:
		return len(m.Indices) / 3
	case m.Cloud:
		return 0
	}
	return len(m.Positions) / 9
}

// Corners gives the vertices of triangle t.
func (m *Mesh) Corners(t int) (a, b, c uint32) {
	if m.Indices == nil {
		return uint32(3 * t), uint32(3*t + 1), uint32(3*t + 2)
	}
	return m.Indices[3*t], m.Indices[3*t+1], m.Indices[3*t+2]
}

// At gives the position of a vertex, without Origin.
func (m *Mesh) At(v uint32) [3]float32 {
	return [3]float32(m.Positions[3*v : 3*v+3])
}

// Box is the smallest box with sides along the axes that holds something.
type Box struct{ Min, Max [3]float64 }

// Size gives the lengths of the sides.
func (b Box) Size() [3]float64 {
	return [3]float64{b.Max[0] - b.Min[0], b.Max[1] - b.Min[1], b.Max[2] - b.Min[2]}
}

// Diagonal gives the distance of two opposite corners.
func (b Box) Diagonal() float64 {
	s := b.Size()
	return math.Sqrt(s[0]*s[0] + s[1]*s[1] + s[2]*s[2])
}

// Box gives the box of all vertices in the coordinates of the file, Origin included. It is zero where there is no vertex.
func (m *Mesh) Box() Box {
	if len(m.Positions) == 0 {
		return Box{}
	}
	lo, hi := m.At(0), m.At(0)
	for p := m.Positions; len(p) >= 3; p = p[3:] {
		for i, x := range p[:3] {
			if x < lo[i] {
				lo[i] = x
			}
			if x > hi[i] {
				hi[i] = x
			}
		}
	}
	var b Box
	for i := range lo {
		b.Min[i], b.Max[i] = float64(lo[i])+m.Origin[i], float64(hi[i])+m.Origin[i]
	}
	return b
}
