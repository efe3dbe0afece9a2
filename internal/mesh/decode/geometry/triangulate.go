package geometry

import "math"

// mostCorners is how many corners a polygon may have to be cut along its shape, which takes time that grows with their square.
const mostCorners = 5000

// triangulate cuts a polygon of n corners into exactly n - 2 triangles, some of which may have no area. It calls emit with the places of
// their corners in points, in the direction of the polygon. A convex polygon is cut into a fan around its first corner. Of another one
// ears are cut off, as seen along the axis that it faces most; where it crosses itself, or has more than 5,000 corners, some triangles may
// lie outside of it.
func Triangulate(points [][3]float64, emit func(a, b, c int)) {
	n := len(points)
	if n < 3 {
		return
	}
	if n > 3 && n <= mostCorners {
		var few [16][2]float64
		flat := flatten(points, few[:0])
		if !convex(flat) {
			cutEars(flat, emit)
			return
		}
	}
	for i := 2; i < n; i++ {
		emit(0, i-1, i)
	}
}

// flatten appends the corners as they are seen along the axis that the polygon faces most, from the side where they go counterclockwise.
func flatten(points [][3]float64, flat [][2]float64) [][2]float64 {
	var normal [3]float64 // Newell's, relative to the first corner, so that nothing is lost far from zero
	o := points[0]
	p := points[len(points)-1]
	for _, q := range points {
		for i := range normal {
			j, k := (i+1)%3, (i+2)%3
			normal[i] += (p[j]-o[j])*(q[k]-o[k]) - (p[k]-o[k])*(q[j]-o[j])
		}
		p = q
	}
	axis := 0
	for i := range normal {
		if math.Abs(normal[i]) > math.Abs(normal[axis]) {
			axis = i
		}
	}
	u, v := (axis+1)%3, (axis+2)%3
	if normal[axis] < 0 {
		u, v = v, u
	}
	for _, q := range points {
		flat = append(flat, [2]float64{q[u] - o[u], q[v] - o[v]})
	}
	return flat
}

// turn is twice the area of a triangle, above zero where it goes counterclockwise.
func turn(a, b, c [2]float64) float64 {
	return (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0])
}

// convex tells whether no corner turns clockwise.
func convex(flat [][2]float64) bool {
	a, b := flat[len(flat)-2], flat[len(flat)-1]
	for _, c := range flat {
		if turn(a, b, c) < 0 {
			return false
		}
		a, b = b, c
	}
	return true
}

// ears is a polygon of which ears are cut off: corners that turn counterclockwise and whose triangle holds no other corner.
type ears struct {
	flat       [][2]float64
	prev, next []int32
	dents      []int32 // corners that do not turn counterclockwise; what was cut off among them is passed over
	ear        []bool
}

// cutEars cuts ears off until a triangle is left. Each cut changes what two corners are, so that the time is at most that of looking at all
// corners three times for each corner.
func cutEars(flat [][2]float64, emit func(a, b, c int)) {
	n := len(flat)
	e := ears{flat: flat, prev: make([]int32, n), next: make([]int32, n), ear: make([]bool, n)}
	for i := range n {
		e.prev[i], e.next[i] = int32((i+n-1)%n), int32((i+1)%n)
	}
	for i := range int32(n) {
		if e.turns(i) <= 0 {
			e.dents = append(e.dents, i)
		}
	}
	for i := range int32(n) {
		e.ear[i] = e.isEar(i)
	}
	at := int32(0)
	for left := n; left > 3; left-- {
		at = e.choose(at, left)
		a, c := e.prev[at], e.next[at]
		emit(int(a), int(at), int(c))
		e.next[a], e.prev[c] = c, a
		e.next[at] = -1 // cut off
		e.ear[a], e.ear[c] = e.isEar(a), e.isEar(c)
		at = e.next[c] // not the next one, for a fan of slivers is what that would give
	}
	emit(int(e.prev[at]), int(at), int(e.next[at]))
}

// choose gives the next ear. Where the polygon crosses or touches itself there may be none: then a corner that has no area, and else any
// that turns counterclockwise, and else the one that is given.
func (e *ears) choose(at int32, left int) int32 {
	flat, turning := int32(-1), int32(-1)
	for i, tries := at, 0; tries < left; i, tries = e.next[i], tries+1 {
		switch t := e.turns(i); {
		case e.ear[i]:
			return i
		case t == 0 && flat < 0:
			flat = i
		case t > 0 && turning < 0:
			turning = i
		}
	}
	switch {
	case flat >= 0:
		return flat
	case turning >= 0:
		return turning
	}
	return at
}

func (e *ears) turns(i int32) float64 { return turn(e.flat[e.prev[i]], e.flat[i], e.flat[e.next[i]]) }

// isEar tells whether a corner turns counterclockwise and no other one is in its triangle. Only those that do not turn so can be there.
// One in the place of a corner of the triangle is not in it: outlines with holes go along a line twice.
func (e *ears) isEar(i int32) bool {
	a, b, c := e.flat[e.prev[i]], e.flat[i], e.flat[e.next[i]]
	if turn(a, b, c) <= 0 {
		return false
	}
	for _, d := range e.dents {
		p := e.flat[d]
		if e.next[d] < 0 || p == a || p == b || p == c {
			continue
		}
		if turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0 {
			return false
		}
	}
	return true
}
