package draco

// none is no corner or no vertex.
const none = -1

// cornerTable is the connectivity of triangles (Corner Table). Corner c is corner c%3 of triangle
// c/3. The edge between the two other corners of its triangle is the edge opposite to it.
//
// The corners of a vertex form a fan, in which neighboring triangles share an edge. A fan is either
// closed, or open between two boundary edges.
type cornerTable struct {
	opposite []int32 // corner on the other side of the edge opposite to a corner
	vertex   []int32 // vertex of a corner
	first    []int32 // for a vertex, the left-most corner if its fan is open, else any; none if unused
}

// next returns the next corner of the triangle.
func next(c int32) int32 {
	if c%3 == 2 {
		return c - 2
	}
	return c + 1
}

// previous returns the previous corner of the triangle.
func previous(c int32) int32 {
	if c%3 == 0 {
		return c + 2
	}
	return c - 1
}

// swingLeft returns the corner of the same vertex in the triangle on the left, or none if the edge
// in between is on the boundary (SwingLeft).
func (t *cornerTable) swingLeft(c int32) int32 {
	if c = t.opposite[next(c)]; c == none {
		return none
	}
	return next(c)
}

// swingRight returns the corner of the same vertex in the triangle on the right, or none
// (SwingRight).
func (t *cornerTable) swingRight(c int32) int32 {
	if c = t.opposite[previous(c)]; c == none {
		return none
	}
	return previous(c)
}

// rightCorner returns the corner opposite to the edge on the right of c (GetRightCorner).
func (t *cornerTable) rightCorner(c int32) int32 { return t.opposite[next(c)] }

// leftCorner returns the corner opposite to the edge on the left of c (GetLeftCorner).
func (t *cornerTable) leftCorner(c int32) int32 { return t.opposite[previous(c)] }

// isOpen reports whether a vertex, which is used, is on the boundary.
func (t *cornerTable) isOpen(v int32) bool { return t.swingLeft(t.first[v]) == none }

// used returns the number of vertices that have corners.
func (t *cornerTable) used() int {
	n := 0
	for _, c := range t.first {
		if c != none {
			n++
		}
	}
	return n
}

// isValid reports whether the corners of each vertex are one fan and each corner is in one, which
// makes all walks around a vertex end.
func (t *cornerTable) isValid() bool {
	seen := 0
	for v, first := range t.first {
		if first == none {
			continue
		}
		open := t.isOpen(int32(v))
		c := first
		for c != none {
			if t.vertex[c] != int32(v) {
				return false
			}
			seen++
			if c = t.swingRight(c); c == first {
				break
			}
		}
		if open != (c == none) {
			return false
		}
	}
	return seen == len(t.vertex)
}

// split returns the connectivity of an attribute: that of t, cut open along the edges for which
// opposite has none. It keeps opposite. The vertices are numbered in the order of those of t, and
// for each of them from left to right (Mesh Attribute Corner Table).
func (t *cornerTable) split(opposite []int32) *cornerTable {
	s := &cornerTable{opposite: opposite, vertex: make([]int32, len(t.vertex))}
	for _, first := range t.first {
		if first == none {
			continue
		}
		start := first
		for c := s.swingLeft(start); c != none; c = s.swingLeft(c) {
			first = c
			if c == start {
				break // a closed fan without a cut
			}
		}
		s.first = append(s.first, first)
		s.vertex[first] = int32(len(s.first) - 1)
		for c := t.swingRight(first); c != none && c != first; c = t.swingRight(c) {
			if s.opposite[next(c)] == none {
				s.first = append(s.first, c)
			}
			s.vertex[c] = int32(len(s.first) - 1)
		}
	}
	return s
}
