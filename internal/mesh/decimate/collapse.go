package decimate

import (
	"context"
	"math"
)

const (
	// eased is the weight, relative to that of its faces, with which a vertex is attracted to its
	// old position: enough to choose a position on flat faces, where all cost the same, and
	// otherwise negligible.
	eased = 1e-5
	// stiff is the minimum weight of a face relative to the square of its longest side: a sliver
	// has little area but is visible when it turns.
	stiff = 0.03
	// bordered and outlined are the weights of a border and of a color boundary for each squared
	// length.
	bordered, outlined = 100, 1
	// colored is the cost of a color difference relative to the squared length of an edge.
	colored = 1e-2
	// crowd is the maximum number of faces at the two ends of an edge that is considered. It bounds
	// the time for vertices with very many faces.
	crowd = 256
	// minRemoved is the fraction of triangles that a round must remove for another round with the
	// same rules.
	minRemoved = 0.03
)

// candidate is an edge that may be collapsed.
type candidate struct {
	cost float32 // at least 0
	a    uint32  // twice the lower end, plus 1 if the edge is a seam
	b    uint32
}

// lines are the kinds of lines that a vertex is on.
type lines uint8

const (
	border lines = 1 << iota // an edge with one face, or with more than two
	seam                     // a border or a color boundary
)

// rules are the constraints on a collapse, from strict to weak; each level includes those after it.
// If nothing can be collapsed, the next level applies.
type rules uint8

const (
	keepShapes   rules = iota // do not create slivers
	keepColors                // do not break color boundaries
	keepTopology              // do not join separate parts or close holes
	keepSides                 // do not flip faces
	keepNothing
)

// collapser collapses edges in rounds. Each round computes the cost of all edges and collapses the
// cheapest ones whose ends have not moved in that round.
type collapser struct {
	*surface
	// number of triangles; the others have two equal corners and are removed after the round
	live     int
	wanted   int
	quadrics []quadric // by vertex
	// Corners incident[first[v]:first[v+1]] are at vertex v at the start of the round.
	first, incident []uint32
	// slots and marks are scratch memory by vertex.
	slots, marks []uint32
	serial       uint32
	lines        []lines
	moved        []bool // by vertex: it has moved or been removed in this round
	candidates   []candidate
	around       []spoke
}

// collapse collapses edges until the surface has at most wanted triangles.
func collapse(ctx context.Context, s *surface, wanted int, progress func(done float64)) error {
	n := len(s.positions)
	c := &collapser{
		surface: s, live: s.triangles(), wanted: wanted,
		quadrics: make([]quadric, n), first: make([]uint32, n+1), incident: make([]uint32, len(s.corners)),
		slots: make([]uint32, n), marks: make([]uint32, n), lines: make([]lines, n), moved: make([]bool, n),
		candidates: make([]candidate, 0, len(s.corners)/2),
	}
	c.measure()
	start := c.live
	reach := 1.0 // how many more edges are tried than needed
	for r := keepShapes; c.live > wanted; {
		before := c.live
		if err := c.gather(ctx, before == start); err != nil {
			return err
		}
		all, err := c.round(ctx, r, reach)
		if err != nil {
			return err
		}
		c.compact()
		progress(math.Log(float64(start+1)/float64(c.live+1)) / math.Log(float64(start+1)/float64(min(c.live, wanted)+1)))
		switch removed := float64(before - c.live); {
		case removed >= minRemoved*float64(before):
			reach = 1
		case !all:
			reach *= 4
		case r < keepNothing:
			r, reach = r+1, 1
		default:
			c.drop()
		}
	}
	return nil
}

// measure sets the quadric of each vertex from the planes of its faces, weighted by area.
func (c *collapser) measure() {
	for i := 0; i < len(c.corners); i += 3 {
		ends := c.corners[i : i+3 : i+3]
		n, weight := c.normal(ends[0], ends[1], ends[2])
		longest := 0.0
		for k, v := range ends {
			d := c.positions[v].minus(c.positions[ends[(k+1)%3]])
			longest = max(longest, d.dot(d))
		}
		if 4*weight*weight > flat*flat*longest {
			weight = max(weight, stiff*longest)
		}
		for _, v := range ends {
			q := &c.quadrics[v]
			q.plane(n, c.positions[v], weight)
			q.point(c.positions[v], weight*eased)
		}
	}
}

// normal returns the unit normal of a triangle and its area, both zero for a degenerate one.
func (s *surface) normal(a, b, c uint32) (vector, float64) {
	p := s.positions[a]
	n := s.positions[b].minus(p).cross(s.positions[c].minus(p))
	length := math.Sqrt(n.dot(n))
	if length == 0 {
		return vector{}, 0
	}
	return n.times(1 / length), length / 2
}

// index fills first and incident.
func (c *collapser) index() {
	clear(c.first)
	for _, v := range c.corners {
		c.first[v]++
	}
	sum := uint32(0)
	for v, n := range c.first {
		sum += n
		c.first[v] = sum
	}
	c.incident = c.incident[:len(c.corners)]
	for i := len(c.corners) - 1; i >= 0; i-- {
		v := c.corners[i]
		c.first[v]--
		c.incident[c.first[v]] = uint32(i)
	}
}

// compact removes the deleted triangles.
func (c *collapser) compact() {
	kept := 0
	for i := 0; i < len(c.corners); i += 3 {
		x, y, z := c.corners[i], c.corners[i+1], c.corners[i+2]
		if x == y || y == z || z == x {
			continue
		}
		c.corners[kept], c.corners[kept+1], c.corners[kept+2] = x, y, z
		if c.colors != nil {
			copy(c.colors[kept:kept+3], c.colors[i:i+3])
		}
		kept += 3
	}
	c.corners = c.corners[:kept]
	if c.colors != nil {
		c.colors = c.colors[:kept]
	}
	c.live = kept / 3
}

// others returns the other two corners of the triangle of corner i, in order.
func others(i uint32) (next, last uint32) {
	switch i % 3 {
	case 0:
		return i + 1, i + 2
	case 1:
		return i + 1, i - 1
	}
	return i - 2, i - 1
}
