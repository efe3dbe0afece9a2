package decimate

import "math"

// quadric is a weighted sum of squared distances from planes as a function of the point p: p·Ap +
// 2b·p + c.
type quadric struct {
	xx, xy, xz, yy, yz, zz float64 // A
	x, y, z                float64 // b
	c                      float64
}

// plane adds the squared distance from the plane through p with unit normal n.
func (q *quadric) plane(n, p vector, weight float64) {
	d := -n.dot(p)
	x, y, z := weight*n[0], weight*n[1], weight*n[2]
	q.xx += x * n[0]
	q.xy += x * n[1]
	q.xz += x * n[2]
	q.yy += y * n[1]
	q.yz += y * n[2]
	q.zz += z * n[2]
	q.x += x * d
	q.y += y * d
	q.z += z * d
	q.c += weight * d * d
}

// point adds the squared distance from p.
func (q *quadric) point(p vector, weight float64) {
	q.xx += weight
	q.yy += weight
	q.zz += weight
	q.x -= weight * p[0]
	q.y -= weight * p[1]
	q.z -= weight * p[2]
	q.c += weight * p.dot(p)
}

func (q *quadric) add(r *quadric) {
	q.xx += r.xx
	q.xy += r.xy
	q.xz += r.xz
	q.yy += r.yy
	q.yz += r.yz
	q.zz += r.zz
	q.x += r.x
	q.y += r.y
	q.z += r.z
	q.c += r.c
}

// weight returns the sum of the weights of planes, plus three times that of points.
func (q *quadric) weight() float64 { return q.xx + q.yy + q.zz }

// at returns the value at p. Rounding may make it negative.
func (q *quadric) at(p vector) float64 {
	x := q.xx*p[0] + q.xy*p[1] + q.xz*p[2] + 2*q.x
	y := q.xy*p[0] + q.yy*p[1] + q.yz*p[2] + 2*q.y
	z := q.xz*p[0] + q.yz*p[1] + q.zz*p[2] + 2*q.z
	return x*p[0] + y*p[1] + z*p[2] + q.c
}

// least returns the point with the minimum value, by Cholesky decomposition of A, or false if the
// minimum is not unique.
func (q *quadric) least() (p vector, ok bool) {
	small := 1e-9 * q.weight()
	if !(q.xx > small) {
		return p, false
	}
	l10, l20 := q.xy/q.xx, q.xz/q.xx
	d1 := q.yy - l10*q.xy
	if !(d1 > small) {
		return p, false
	}
	e := q.yz - l20*q.xy
	l21 := e / d1
	d2 := q.zz - l20*q.xz - l21*e
	if !(d2 > small) {
		return p, false
	}
	y0 := -q.x
	y1 := -q.y - l10*y0
	y2 := -q.z - l20*y0 - l21*y1
	p[2] = y2 / d2
	p[1] = y1/d1 - l21*p[2]
	p[0] = y0/q.xx - l10*p[1] - l20*p[2]
	return p, !math.IsInf(p[0]+p[1]+p[2], 0) && !math.IsNaN(p[0]+p[1]+p[2])
}
