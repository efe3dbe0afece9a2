package geometry

import "slices"

// solid is one mesh of a file while it is read: the vertices as the file has them, and the places that triangles have them in. A vertex has
// a place for each colour that meets in it, and none where no triangle uses it.
type Shape struct {
	Vertices []float64 // x, y, z
	Corners  []uint32  // places of three corners of each triangle
	Sources  []uint32  // the vertex of each place
	Colors   []uint32  // the colour of each place; nil while all are plain
	newest   []uint32  // of each vertex its newest place + 1, or 0
	previous []uint32  // of each place the one before it of the same vertex + 1, or 0; as long as paint
}

// placesSought bounds the search for a colour among those of one vertex. What is not found among the newest gets one more place, which
// costs a little memory in place of time without end.
const MaxColorSearch = 16

// at gives the place of a vertex in a colour.
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
		for tries := 0; place != 0 && tries < MaxColorSearch; tries++ {
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

// point gives where a place is.
func (s *Shape) point(place int) [3]float64 {
	v := s.Sources[place]
	return [3]float64(s.Vertices[3*v : 3*v+3])
}

// triangles counts the triangles.
func (s *Shape) Triangles() int { return len(s.Corners) / 3 }
