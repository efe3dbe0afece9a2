package geometry

import "math"

// maxEarCorners is the maximum number of corners for ear clipping, which takes quadratic time.
const maxEarCorners = 5000

// Triangulate splits a polygon of n corners into exactly n - 2 triangles, some of which may have no
// area. It calls emit with indices into points, in the orientation of the polygon. A convex polygon
// becomes a fan around its first corner. Other polygons are triangulated by ear clipping in the
// projection along the dominant axis of their normal. If the polygon intersects itself or has more
// than 5,000 corners, some triangles may lie outside of it.
func Triangulate(points [][3]float64, emit func(a, b, c int)) {
	n := len(points)
	if n < 3 {
		return
	}
	if n > 3 && n <= maxEarCorners {
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

// flatten appends the corners projected along the dominant axis of the normal, seen from the side
// where they are counterclockwise.
func flatten(points [][3]float64, flat [][2]float64) [][2]float64 {
	// Newell's method, relative to the first corner to keep precision far from zero
	var normal [3]float64
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

// turn returns twice the signed area of a triangle, positive if it is counterclockwise.
func turn(a, b, c [2]float64) float64 {
	return (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0])
}

// convex reports whether no corner turns clockwise.
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

// ears is the state of ear clipping. An ear is a corner that turns counterclockwise and whose
// triangle contains no other corner.
type ears struct {
	flat       [][2]float64
	prev, next []int32
	dents      []int32 // corners that do not turn counterclockwise, including removed ones
	ear        []bool
}

// cutEars removes ears until a triangle is left. Each removal changes two corners, so the time is
// at most three checks of all corners for each corner.
func cutEars(flat [][2]float64, emit func(a, b, c int)) {
	n := len(flat)
	e := ears{flat: flat, prev: make([]int32, n), next: make([]int32, n), ear: make([]bool, n)}
	for i := range n {
		e.prev[i], e.next[i] = int32((i+n-1)%n), int32((i+1)%n)
	}
	for i := range int32(n) {
		if e.orientation(i) <= 0 {
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
		e.next[at] = -1 // removed
		e.ear[a], e.ear[c] = e.isEar(a), e.isEar(c)
		at = e.next[c] // not e.next[at], which would produce a fan of thin triangles
	}
	emit(int(e.prev[at]), int(at), int(e.next[at]))
}

// choose returns the next ear. A polygon that intersects or touches itself may have none; then
// choose returns a corner without area, else one that turns counterclockwise, else at.
func (e *ears) choose(at int32, left int) int32 {
	flat, turning := int32(-1), int32(-1)
	for i, tries := at, 0; tries < left; i, tries = e.next[i], tries+1 {
		switch t := e.orientation(i); {
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

func (e *ears) orientation(i int32) float64 {
	return turn(e.flat[e.prev[i]], e.flat[i], e.flat[e.next[i]])
}

// isEar reports whether corner i turns counterclockwise and no other corner is inside its triangle.
// Only corners that do not turn counterclockwise can be. A corner at the same position as one of
// the triangle is not inside: outlines with holes follow some lines twice.
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
