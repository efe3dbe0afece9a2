// Package mesh defines the geometry of a mesh file, independent of its format. Decoders produce it;
// thumbnails, three.js JSON, GLB and measurements are derived from it. The package does no input or
// output.
package mesh

import "math"

// Up is the axis that points up in the coordinates of a file.
type Up uint8

// Formats for printing have Z up; glTF has Y up.
const (
	UpZ Up = iota
	UpY
)

// String returns the axis as three.js writes it: Y or Z.
func (u Up) String() string {
	if u == UpY {
		return "Y"
	}
	return "Z"
}

// Mesh is a set of triangles, or a point cloud if it has none.
type Mesh struct {
	Format Format
	Up     Up
	// Unit is the length of one coordinate unit in millimeters: 1 if the file does not define it,
	// 1000 for glTF, which uses meters.
	Unit float64
	// Origin is added to each position. It is zero unless single precision would lose detail, which
	// happens far from zero.
	Origin [3]float64
	// Positions are the x, y, z of each vertex, in the coordinates and unit of the file. All are
	// finite.
	Positions []float32
	// Indices are the three vertices of each triangle, each less than Vertices(). If Indices is nil
	// and Cloud is false, every three vertices are a triangle, as in STL.
	Indices []uint32
	// Colors are the red, green, blue and alpha of each vertex (sRGB, straight alpha), or nil if
	// the file has none. If the file gives colors to faces or materials, decoders duplicate
	// vertices that have several colors.
	Colors []uint8
	// Patches are what textures show on triangles, in ascending order of Triangle. Only thumbnails and
	// GLB use them: Colors has the color of the texture at each vertex.
	Patches []Patch
	// Normals are the unit normals of each vertex. Decoders leave it nil; Shaded computes normals
	// from the geometry, because normals in files are often wrong.
	Normals []float32
	// Cloud reports that the mesh has no faces and its vertices are shown as points.
	Cloud bool
}

// Vertices returns the number of vertices.
func (m *Mesh) Vertices() int { return len(m.Positions) / 3 }

// Triangles returns the number of triangles, including degenerate ones.
func (m *Mesh) Triangles() int {
	switch {
	case m.Indices != nil:
		return len(m.Indices) / 3
	case m.Cloud:
		return 0
	}
	return len(m.Positions) / 9
}

// Corners returns the vertices of triangle t.
func (m *Mesh) Corners(t int) (a, b, c uint32) {
	if m.Indices == nil {
		return uint32(3 * t), uint32(3*t + 1), uint32(3*t + 2)
	}
	return m.Indices[3*t], m.Indices[3*t+1], m.Indices[3*t+2]
}

// At returns the position of a vertex, without Origin.
func (m *Mesh) At(v uint32) [3]float32 {
	return [3]float32(m.Positions[3*v : 3*v+3])
}

// Box is an axis-aligned bounding box.
type Box struct{ Min, Max [3]float64 }

// Size returns the lengths of the sides.
func (b Box) Size() [3]float64 {
	return [3]float64{b.Max[0] - b.Min[0], b.Max[1] - b.Min[1], b.Max[2] - b.Min[2]}
}

// Diagonal returns the distance between opposite corners.
func (b Box) Diagonal() float64 {
	s := b.Size()
	return math.Sqrt(s[0]*s[0] + s[1]*s[1] + s[2]*s[2])
}

// Box returns the bounding box of all vertices in the coordinates of the file, including Origin. It
// is zero if there are no vertices.
func (m *Mesh) Box() Box {
	if len(m.Positions) == 0 {
		return Box{}
	}
	lo, hi := m.At(0), m.At(0)
	lx, ly, lz, hx, hy, hz := lo[0], lo[1], lo[2], hi[0], hi[1], hi[2] // in registers
	for p := m.Positions; len(p) >= 3; p = p[3:] {
		x, y, z := p[0], p[1], p[2]
		if x < lx {
			lx = x
		}
		if x > hx {
			hx = x
		}
		if y < ly {
			ly = y
		}
		if y > hy {
			hy = y
		}
		if z < lz {
			lz = z
		}
		if z > hz {
			hz = z
		}
	}
	lo, hi = [3]float32{lx, ly, lz}, [3]float32{hx, hy, hz}
	var b Box
	for i := range lo {
		b.Min[i], b.Max[i] = float64(lo[i])+m.Origin[i], float64(hi[i])+m.Origin[i]
	}
	return b
}
