package measure

import "math"

type matrix = [3][3]float64

// handWeight scales the numbers that change sign in a mirror image, which are products of small
// numbers, to the magnitude of the others.
const handWeight = 10

// descriptor computes a Descriptor. The change of each number is bounded by that of the moments, so
// one tolerance applies to all. Therefore vectors of third moments enter in the first power,
// divided by their own length where necessary.
func (s *moments) descriptor() Descriptor {
	if s.shapeless() {
		return nil
	}
	d := make(Descriptor, numbers)
	d[kind], d[extent] = 1, math.Log(s.radius*s.radius/s.area)
	if s.cloud {
		d[kind], d[extent] = 2, math.Log(s.area)
	}
	most, least := eigenvalues(s.second)
	d[longest], d[shortest] = most-1.0/3, least-1.0/3
	tail := trace(s.fourth)
	d[tails] = math.Log(tail)
	var skew [3]float64
	norm := 0.0
	for i := range 3 {
		for j := range 3 {
			skew[i] += s.third[i][j][j] / math.Sqrt(tail)
			for k := range 3 {
				norm += s.third[i][j][k] * s.third[i][j][k]
			}
		}
	}
	second, fourth := deviator(s.second, 1), deviator(s.fourth, tail)
	length := math.Sqrt(dot(skew, skew))
	d[lopsided], d[skewed] = length, math.Sqrt(norm/tail)
	turned, bent := times(second, skew), times(fourth, skew)
	d[tails1], d[tails2] = contract(second, fourth), math.Sqrt(contract(fourth, fourth))
	strength := contract(second, second) // squared, as are the following
	if length > 0 {
		d[skew1], d[skew2] = dot(skew, turned)/length, dot(turned, turned)/length
		d[skewedTails] = dot(skew, bent) / length
		if strength > 0 {
			d[hand1] = handWeight * dot(skew, cross(turned, times(second, turned))) / (length * length * strength)
			d[hand2] = handWeight * dot(skew, cross(turned, bent)) / (length * length * math.Sqrt(strength))
		}
	}
	if strength > 0 {
		d[hand3] = handWeight * s.twist(second) / (strength * math.Sqrt(tail))
	}
	return d
}

// twist contracts the third moments with the second moments, their square and the antisymmetric
// tensor. On the axes of the second moments this is x·y·z times the differences of the eigenvalues,
// so it distinguishes mirror images even if the vector of third moments is zero.
func (s *moments) twist(second matrix) (sum float64) {
	var square matrix
	for i := range 3 {
		square[i] = times(second, second[i])
	}
	for i := range 3 {
		for a := range 3 {
			for b := range 3 {
				u, v := second[a], square[b]
				sum += s.third[i][a][b] * cross(u, v)[i]
			}
		}
	}
	return sum
}

// eigenvalues returns the largest and the smallest eigenvalue of a symmetric matrix (O. K. Smith,
// Eigenvalues of a symmetric 3 × 3 matrix, 1961).
func eigenvalues(m matrix) (most, least float64) {
	mean := trace(m) / 3
	d := m
	for i := range 3 {
		d[i][i] -= mean
	}
	p := math.Sqrt(contract(d, d) / 6)
	if p == 0 {
		return mean, mean
	}
	half := dot(d[0], cross(d[1], d[2])) / (2 * p * p * p)
	angle := math.Acos(max(-1, min(1, half))) / 3
	return mean + 2*p*math.Cos(angle), mean + 2*p*math.Cos(angle+2*math.Pi/3)
}

// deviator returns m/size minus its value for a sphere.
func deviator(m matrix, size float64) matrix {
	for i := range 3 {
		for j := range 3 {
			m[i][j] /= size
		}
		m[i][i] -= 1.0 / 3
	}
	return m
}

func trace(m matrix) float64 { return m[0][0] + m[1][1] + m[2][2] }

// times returns the product of a symmetric matrix and a vector.
func times(m matrix, v [3]float64) [3]float64 {
	return [3]float64{dot(m[0], v), dot(m[1], v), dot(m[2], v)}
}

// contract returns the sum of the products of the elements.
func contract(m, n matrix) float64 { return dot(m[0], n[0]) + dot(m[1], n[1]) + dot(m[2], n[2]) }
