package geometry

// Transform is an affine transform of row vectors: the three rows of a matrix, then the
// translation.
type Transform [12]float64

// Identity is the transform that changes nothing.
var Identity = Transform{1, 0, 0, 0, 1, 0, 0, 0, 1}

// Apply transforms a position.
func (t *Transform) Apply(p [3]float64) [3]float64 {
	return [3]float64{
		p[0]*t[0] + p[1]*t[3] + p[2]*t[6] + t[9],
		p[0]*t[1] + p[1]*t[4] + p[2]*t[7] + t[10],
		p[0]*t[2] + p[1]*t[5] + p[2]*t[8] + t[11],
	}
}

// Then returns the transform that applies t and then u.
func (t Transform) Then(u Transform) Transform {
	x, y, z := u.turn(t[0:3]), u.turn(t[3:6]), u.turn(t[6:9])
	at := u.Apply([3]float64(t[9:12]))
	return Transform{x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2], at[0], at[1], at[2]}
}

// turn transforms a direction, without the translation.
func (t Transform) turn(row []float64) [3]float64 {
	t[9], t[10], t[11] = 0, 0, 0
	return t.Apply([3]float64(row))
}

// mirrors reports whether the transform reverses the orientation of triangles.
func (t *Transform) mirrors() bool {
	return t[0]*(t[4]*t[8]-t[5]*t[7])-t[1]*(t[3]*t[8]-t[5]*t[6])+t[2]*(t[3]*t[7]-t[4]*t[6]) < 0
}
