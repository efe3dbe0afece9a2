package decode

import "slices"

// solid is one mesh of a file while it is read: the vertices as the file has them, and the places that triangles have them in. A vertex has
// a place for each colour that meets in it, and none where no triangle uses it.
type solid struct {
	vertices []float64 // x, y, z
	corners  []uint32  // places of three corners of each triangle
	from     []uint32  // the vertex of each place
	paint    []uint32  // the colour of each place; nil while all are plain
	newest   []uint32  // of each vertex its newest place + 1, or 0
	older    []uint32  // of each place the one before it of the same vertex + 1, or 0; as long as paint
}

// plain is the colour, red in the lowest byte, of what a file that knows colours gives none.
const plain = 0xFFFFFFFF

// placesSought bounds the search for a colour among those of one vertex. What is not found among the newest gets one more place, which
// costs a little memory in place of time without end.
const placesSought = 16

// at gives the place of a vertex in a colour.
func (s *solid) at(vertex, color uint32) uint32 {
	if more := len(s.vertices)/3 - len(s.newest); more > 0 {
		s.newest = append(s.newest, make([]uint32, more)...)
	}
	if color != plain && s.paint == nil {
		s.paint = slices.Repeat([]uint32{plain}, len(s.from))
		s.older = make([]uint32, len(s.from))
	}
	place := s.newest[vertex]
	if s.paint == nil {
		if place != 0 {
			return place - 1
		}
	} else {
		for tries := 0; place != 0 && tries < placesSought; tries++ {
			if s.paint[place-1] == color {
				return place - 1
			}
			place = s.older[place-1]
		}
		s.paint = append(s.paint, color)
		s.older = append(s.older, s.newest[vertex])
	}
	s.from = append(s.from, vertex)
	s.newest[vertex] = uint32(len(s.from))
	return uint32(len(s.from) - 1)
}

// point gives where a place is.
func (s *solid) point(place int) [3]float64 {
	v := s.from[place]
	return [3]float64(s.vertices[3*v : 3*v+3])
}

// triangles counts the triangles.
func (s *solid) triangles() int { return len(s.corners) / 3 }

// rgba makes a colour of red, green, blue and alpha from 0 to 1.
func rgba(r, g, b, a float64) uint32 {
	return channel(r) | channel(g)<<8 | channel(b)<<16 | channel(a)<<24
}

func channel(x float64) uint32 { return uint32(max(0, min(1, x))*255 + 0.5) }
