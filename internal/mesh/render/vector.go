package render

import "math"

// row is a linear function of a position: three factors and a constant.
type row [4]float64

func (r *row) of(x, y, z float64) float64 { return r[0]*x + r[1]*y + r[2]*z + r[3] }

// affine maps a position to another space.
type affine [3]row

// along returns the distance of positions along a direction of the other space.
func (a *affine) along(d [3]float64) (r row) {
	for i := range r {
		r[i] = a[0][i]*d[0] + a[1][i]*d[1] + a[2][i]*d[2]
	}
	return r
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func scaled(a [3]float64, by float64) [3]float64 { return [3]float64{a[0] * by, a[1] * by, a[2] * by} }

func sum(all ...[3]float64) (s [3]float64) {
	for _, a := range all {
		s[0], s[1], s[2] = s[0]+a[0], s[1]+a[1], s[2]+a[2]
	}
	return s
}

func unit(a [3]float64) [3]float64 { return scaled(a, 1/math.Sqrt(dot(a, a))) }
