package geometry

import (
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Shape is one mesh of a file before it is transformed. Its input vertices are those of the file.
// Its output vertices are those of the resulting mesh: one for each combination of input vertex and
// color that a triangle uses.
type Shape struct {
	Vertices []float64    // x, y, z of the input vertices
	Corners  []uint32     // three output vertices of each triangle
	Sources  []uint32     // the input vertex of each output vertex
	Colors   []uint32     // the color of each output vertex; nil while all are NoColor
	Patches  []mesh.Patch // the textures on its triangles
	newest   []uint32     // the newest output vertex of each input vertex + 1, or 0
	// for each output vertex the one before it of the same input vertex + 1, or 0; as long as
	// Colors
	previous []uint32
}

// maxColorSearch limits how many output vertices of one input vertex are searched for a color. A
// color that is not among the newest gets another output vertex, which costs memory but bounds the
// time.
const maxColorSearch = 16

// Output returns the output vertex for an input vertex and a color, and adds it if needed.
func (s *Shape) Output(vertex, color uint32) uint32 {
	if more := len(s.Vertices)/3 - len(s.newest); more > 0 {
		s.newest = append(s.newest, make([]uint32, more)...)
	}
	if color != NoColor && s.Colors == nil {
		s.Colors = slices.Repeat([]uint32{NoColor}, len(s.Sources))
		s.previous = make([]uint32, len(s.Sources))
	}
	place := s.newest[vertex]
	if s.Colors == nil {
		if place != 0 {
			return place - 1
		}
	} else {
		for tries := 0; place != 0 && tries < maxColorSearch; tries++ {
			if s.Colors[place-1] == color {
				return place - 1
			}
			place = s.previous[place-1]
		}
		s.Colors = append(s.Colors, color)
		s.previous = append(s.previous, s.newest[vertex])
	}
	s.Sources = append(s.Sources, vertex)
	s.newest[vertex] = uint32(len(s.Sources))
	return uint32(len(s.Sources) - 1)
}

// point returns the position of an output vertex.
func (s *Shape) point(place int) [3]float64 {
	v := s.Sources[place]
	return [3]float64(s.Vertices[3*v : 3*v+3])
}

// Triangles returns the number of triangles.
func (s *Shape) Triangles() int { return len(s.Corners) / 3 }
