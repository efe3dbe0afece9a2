package measure

import (
	"context"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// moments are integrals over a surface, or sums over the points of a cloud. They depend only on the
// surface, not on its triangulation or orientation.
type moments struct {
	cloud  bool
	size   float64 // diagonal of the box
	area   float64 // for a cloud, the number of points
	volume float64 // signed; meaningful for closed surfaces only
	radius float64 // root mean square distance from the centroid
	// The means of products of coordinates, relative to the centroid, in units of radius.
	second [3][3]float64    // x[i]·x[j]
	third  [3][3][3]float64 // x[i]·x[j]·x[k]
	fourth [3][3]float64    // x[i]·x[j]·|x|²
}

// rule is a quadrature rule for a triangle, exact to the fourth degree: barycentric coordinates and
// weights (D. A. Dunavant, High degree efficient symmetrical Gaussian quadrature rules for the
// triangle, 1985).
var rule = func() (points [6]struct{ a, b, c, weight float64 }) {
	for i, r := range [2]struct{ near, weight float64 }{{0.445948490915964886, 0.223381589678011466},
		{0.091576213509770743, 0.109951743655321868}} {
		far := 1 - 2*r.near
		points[3*i].a, points[3*i].b, points[3*i].c = far, r.near, r.near
		points[3*i+1].a, points[3*i+1].b, points[3*i+1].c = r.near, far, r.near
		points[3*i+2].a, points[3*i+2].b, points[3*i+2].c = r.near, r.near, far
		for k := range 3 {
			points[3*i+k].weight = r.weight
		}
	}
	return points
}()

// integrate computes the moments of a mesh. It works relative to the center of the box, because
// coordinates may be far from zero.
func integrate(ctx context.Context, m *mesh.Mesh, progress func(done float64)) (*moments, error) {
	box := m.Box()
	s := &moments{cloud: m.Triangles() == 0, size: box.Diagonal()}
	var middle, first [3]float64
	for i := range middle {
		middle[i] = (box.Min[i]+box.Max[i])/2 - m.Origin[i]
	}
	each := func(from [3]float64, add func(a, b, c [3]float64)) error {
		at := func(v uint32) [3]float64 {
			p := m.At(v)
			return [3]float64{float64(p[0]) - from[0], float64(p[1]) - from[1], float64(p[2]) - from[2]}
		}
		n := m.Triangles()
		if s.cloud {
			n = m.Vertices()
		}
		for t := range n {
			if t%(1<<14) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if s.cloud {
				p := at(uint32(t))
				add(p, p, p)
				continue
			}
			a, b, c := m.Corners(t)
			add(at(a), at(b), at(c))
		}
		return nil
	}
	err := each(middle, func(a, b, c [3]float64) {
		w := 1.0
		if !s.cloud {
			n := normal(a, b, c)
			w = math.Sqrt(dot(n, n)) / 2
			s.volume += dot(a, n) / 6
		}
		s.area += w
		for i := range first {
			first[i] += w * (a[i] + b[i] + c[i]) / 3
		}
	})
	if err != nil || s.shapeless() {
		return s, err
	}
	progress(0.3)
	for i := range middle {
		middle[i] += first[i] / s.area
	}
	// Lengths are in units of the diagonal, so that fourth powers do not overflow.
	err = each(middle, func(a, b, c [3]float64) {
		for i := range a {
			a[i], b[i], c[i] = a[i]/s.size, b[i]/s.size, c[i]/s.size
		}
		if s.cloud {
			s.add(a, 1)
			return
		}
		n := normal(a, b, c)
		w := math.Sqrt(dot(n, n)) / 2
		for _, r := range rule {
			s.add([3]float64{
				r.a*a[0] + r.b*b[0] + r.c*c[0],
				r.a*a[1] + r.b*b[1] + r.c*c[1],
				r.a*a[2] + r.b*b[2] + r.c*c[2],
			}, w*r.weight)
		}
	})
	s.normalize()
	return s, err
}

// shapeless reports whether the area (for a cloud: the extent) is within the rounding errors of the
// coordinates.
func (s *moments) shapeless() bool {
	if s.cloud {
		return s.size == 0
	}
	return s.area <= 1e-6*s.size*s.size
}

// add adds point x with a weight. It sums the elements i ≤ j ≤ k of the symmetric tensors;
// normalize fills in the others.
func (s *moments) add(x [3]float64, weight float64) {
	r := dot(x, x)
	wx, wy, wz := weight*x[0], weight*x[1], weight*x[2]
	xx, xy, xz, yy, yz, zz := wx*x[0], wx*x[1], wx*x[2], wy*x[1], wy*x[2], wz*x[2]
	s.second[0][0] += xx
	s.second[0][1] += xy
	s.second[0][2] += xz
	s.second[1][1] += yy
	s.second[1][2] += yz
	s.second[2][2] += zz
	s.fourth[0][0] += xx * r
	s.fourth[0][1] += xy * r
	s.fourth[0][2] += xz * r
	s.fourth[1][1] += yy * r
	s.fourth[1][2] += yz * r
	s.fourth[2][2] += zz * r
	s.third[0][0][0] += xx * x[0]
	s.third[0][0][1] += xx * x[1]
	s.third[0][0][2] += xx * x[2]
	s.third[0][1][1] += xy * x[1]
	s.third[0][1][2] += xy * x[2]
	s.third[0][2][2] += xz * x[2]
	s.third[1][1][1] += yy * x[1]
	s.third[1][1][2] += yy * x[2]
	s.third[1][2][2] += yz * x[2]
	s.third[2][2][2] += zz * x[2]
}

// normalize converts sums in units of the diagonal to means in units of radius.
func (s *moments) normalize() {
	sum := s.second[0][0] + s.second[1][1] + s.second[2][2]
	weight := s.area
	if !s.cloud {
		weight /= s.size * s.size
	}
	radius := math.Sqrt(sum / weight)
	s.radius = radius * s.size
	for i := range 3 {
		for j := range 3 {
			lo, hi := min(i, j), max(i, j)
			if i <= j {
				s.second[i][j] /= weight * radius * radius
				s.fourth[i][j] /= weight * radius * radius * radius * radius
			} else {
				s.second[i][j], s.fourth[i][j] = s.second[lo][hi], s.fourth[lo][hi]
			}
			for k := range 3 {
				if i <= j && j <= k {
					s.third[i][j][k] /= weight * radius * radius * radius
				} else {
					least, most := min(lo, k), max(hi, k)
					s.third[i][j][k] = s.third[least][i+j+k-least-most][most]
				}
			}
		}
	}
}

// normal returns the cross product of two sides of a triangle, whose length is twice the area.
func normal(a, b, c [3]float64) [3]float64 {
	return cross([3]float64{b[0] - a[0], b[1] - a[1], b[2] - a[2]}, [3]float64{c[0] - a[0], c[1] - a[1], c[2] - a[2]})
}

func cross(u, v [3]float64) [3]float64 {
	return [3]float64{u[1]*v[2] - u[2]*v[1], u[2]*v[0] - u[0]*v[2], u[0]*v[1] - u[1]*v[0]}
}

func dot(u, v [3]float64) float64 { return u[0]*v[0] + u[1]*v[1] + u[2]*v[2] }
