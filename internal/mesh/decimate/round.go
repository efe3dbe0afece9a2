package decimate

import (
	"context"
	"math"
	"sort"
)

// round collapses the cheapest candidates until the surface is small enough, and reports whether it
// tried all of them. It tries reach times as many as needed if none were rejected.
func (c *collapser) round(ctx context.Context, r rules, reach float64) (all bool, err error) {
	order, all := c.cheapest(max(reach*float64(c.live-c.wanted)*0.5, 0.02*float64(len(c.candidates))))
	for i, k := range order {
		if c.live <= c.wanted {
			break
		}
		if i%(1<<13) == 0 && ctx.Err() != nil {
			return all, ctx.Err()
		}
		e := c.candidates[k]
		if a := e.a >> 1; !c.moved[a] && !c.moved[e.b] {
			c.try(a, e.b, e.a&1 == 1, r)
		}
	}
	return all, nil
}

// cheapest returns at least n candidates, or all, in order of cost, accurate to about one percent.
func (c *collapser) cheapest(n float64) (order []uint32, all bool) {
	const shift = 16 // keeps the exponent and seven digits of a cost, which has no sign bit
	var ends [1 << (31 - shift)]uint32
	for _, e := range c.candidates {
		ends[math.Float32bits(e.cost)>>shift]++
	}
	sum, last := uint32(0), 0
	for i, size := range ends {
		if float64(sum) < n {
			last = i
		}
		ends[i] = sum
		sum += size
	}
	// up to twice the cost, which saves rounds when many are rejected
	last = min(last+1<<(23-shift), len(ends)-1)
	count := sum
	if last+1 < len(ends) {
		count = ends[last+1]
	}
	order = make([]uint32, count)
	for k, e := range c.candidates {
		if i := math.Float32bits(e.cost) >> shift; int(i) <= last {
			order[ends[i]] = uint32(k)
			ends[i]++
		}
	}
	return order, int(count) == len(c.candidates)
}

// try collapses the edge from a to b into a if the rules allow it.
func (c *collapser) try(a, b uint32, isSeam bool, r rules) {
	atA, atB := c.incident[c.first[a]:c.first[a+1]], c.incident[c.first[b]:c.first[b+1]]
	both := c.lines[a] & c.lines[b]
	if len(atA)+len(atB) > crowd || r <= keepColors && both&seam != 0 && !isSeam {
		return
	}
	l := c.link(a, b, atA, atB)
	if l.shared == 0 || l.gone >= c.live {
		return
	}
	p, _ := c.target(a, b)
	if l.gone == 0 {
		if r <= keepTopology && (l.common != l.shared || l.closed || both&border != 0 && l.shared == 2) {
			return
		}
		if r <= keepSides && (c.flips(a, b, p, r) || c.flips(b, a, p, r)) {
			return
		}
	}
	if c.colors != nil {
		c.blend(a, b, p, atA, atB)
	}
	c.live -= max(l.shared, l.gone)
	for _, i := range atB {
		next, last := others(i)
		if !c.alive(i, next, last) {
			continue
		}
		if c.corners[next] == a || c.corners[last] == a || l.gone > 0 {
			c.corners[next], c.corners[last] = a, a // removed
		}
		c.corners[i] = a
	}
	if l.gone > 0 {
		for _, i := range atA {
			next, last := others(i)
			c.corners[next], c.corners[last] = a, a
		}
	}
	c.quadrics[a].add(&c.quadrics[b])
	c.positions[a] = p
	c.moved[a], c.moved[b] = true, true
}

func (c *collapser) alive(i, next, last uint32) bool {
	x, y, z := c.corners[i], c.corners[next], c.corners[last]
	return x != y && y != z && z != x
}

// link describes the neighborhood of an edge.
type link struct {
	shared int  // faces at the edge
	common int  // vertices with an edge to both ends
	closed bool // a face at one end would coincide with a face at the other
	// faces that disappear with a whole component: one or more faces on the edge, or a tetrahedron
	gone int
}

func (c *collapser) link(a, b uint32, atA, atB []uint32) (l link) {
	if c.serial > math.MaxUint32-2 {
		clear(c.marks)
		c.serial = 0
	}
	c.serial += 2
	near, both := c.serial-1, c.serial
	facesA, facesB := 0, 0
	for _, i := range atA {
		next, last := others(i)
		if !c.alive(i, next, last) {
			continue
		}
		facesA++
		v, w := c.corners[next], c.corners[last]
		c.marks[v], c.marks[w] = near, near
		if v == b || w == b {
			l.shared++
		}
	}
	for _, i := range atB {
		next, last := others(i)
		if !c.alive(i, next, last) {
			continue
		}
		facesB++
		for _, j := range [2]uint32{next, last} {
			if v := c.corners[j]; v != a && c.marks[v] == near {
				c.marks[v] = both
				l.common++
			}
		}
	}
	for _, i := range atB {
		next, last := others(i)
		v, w := c.corners[next], c.corners[last]
		if v != a && w != a && c.alive(i, next, last) && c.marks[v] == both && c.marks[w] == both && c.has(v, w, atA) {
			l.closed = true
		}
	}
	if facesA == l.shared && facesB == l.shared {
		l.gone = l.shared
	} else if l.closed && l.shared == 2 && facesA == 3 && facesB == 3 {
		l.gone = 4
	}
	return l
}

// has reports whether one of the corners belongs to a face with v and w.
func (c *collapser) has(v, w uint32, corners []uint32) bool {
	for _, i := range corners {
		next, last := others(i)
		if x, y := c.corners[next], c.corners[last]; (x == v && y == w || x == w && y == v) && c.alive(i, next, last) {
			return true
		}
	}
	return false
}

// flat is the height in a frame below which the orientation of a triangle is a rounding artefact.
const flat = 1e-5

// thinnest is the minimum ratio of height to length of a triangle. Thinner triangles must not
// become thinner still.
const thinnest = 1e-2

// flips reports whether a face at v that is not at the other end flips when v moves to p, or
// becomes a sliver while keepShapes applies.
func (c *collapser) flips(v, other uint32, p vector, r rules) bool {
	from := c.positions[v]
	var around vector // the sum of the normals there, computed on demand
	for _, i := range c.incident[c.first[v]:c.first[v+1]] {
		next, last := others(i)
		x, y := c.corners[next], c.corners[last]
		if x == other || y == other || !c.alive(i, next, last) {
			continue
		}
		foot := c.positions[x]
		side := c.positions[y].minus(foot)
		toFrom, toP := from.minus(foot), p.minus(foot)
		before, after := toFrom.cross(side), toP.cross(side)
		b, a := before.dot(before), after.dot(after)
		length := side.dot(side)
		longB, longA := max(length, toFrom.dot(toFrom)), max(length, toP.dot(toP))
		if b <= flat*flat*longB { // its orientation is undefined
			if a > flat*flat*longA {
				if around == (vector{}) {
					around = c.normals(v).plus(c.normals(other))
				}
				if after.dot(around) <= 0.5*math.Sqrt(a*around.dot(around)) {
					return true
				}
			}
			continue
		}
		if before.dot(after) < 0.4*math.Sqrt(a*b) || a <= flat*flat*longA {
			return true
		}
		if thin := a / (longA * longA); r <= keepShapes && thin < thinnest*thinnest && thin < 0.5*b/(longB*longB) {
			return true
		}
	}
	return false
}

// normals returns the sum of the normals of the faces at v, weighted by area.
func (c *collapser) normals(v uint32) (sum vector) {
	p := c.positions[v]
	for _, i := range c.incident[c.first[v]:c.first[v+1]] {
		next, last := others(i)
		sum = sum.plus(c.positions[c.corners[next]].minus(p).cross(c.positions[c.corners[last]].minus(p)))
	}
	return sum
}

// blend sets the colors of the faces around an edge that collapses to p: an interpolation if each
// end has one color. If an end has several, each face keeps its own.
func (c *collapser) blend(a, b uint32, p vector, atA, atB []uint32) {
	for _, ends := range [2][]uint32{atA, atB} {
		for _, i := range ends {
			if c.colors[i] != c.colors[ends[0]] {
				return
			}
		}
	}
	side := c.positions[b].minus(c.positions[a])
	share := 0.5
	if length := side.dot(side); length > 0 {
		share = max(0, min(1, p.minus(c.positions[a]).dot(side)/length))
	}
	mixed := mix(c.colors[atA[0]], c.colors[atB[0]], share)
	for _, ends := range [2][]uint32{atA, atB} {
		for _, i := range ends {
			c.colors[i] = mixed
		}
	}
}

// drop keeps the largest triangles, as many as wanted, in order.
func (c *collapser) drop() {
	areas := make([]float64, c.live)
	order := make([]int, c.live)
	for t := range areas {
		_, areas[t] = c.normal(c.corners[3*t], c.corners[3*t+1], c.corners[3*t+2])
		order[t] = t
	}
	sort.SliceStable(order, func(i, j int) bool { return areas[order[i]] < areas[order[j]] })
	for _, t := range order[:c.live-c.wanted] {
		c.corners[3*t+1] = c.corners[3*t]
	}
	c.compact()
}
