package measure

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/meshyard/meshyard/internal/mesh"
)

// moved returns the mesh scaled, rotated at random and moved by up to a few diagonals, with or
// without indices, with triangles in another order. Coordinates are rounded to the digits of an
// ASCII file.
func moved(m *mesh.Mesh, rng *rand.Rand, digits int) *mesh.Mesh {
	size := m.Box().Diagonal()
	scale := math.Exp(rng.Float64()*10-5) / size
	turn := rotation(rng)
	var shift [3]float64
	for i := range shift {
		shift[i] = (rng.Float64() - 0.5) * 2 * scale * size
	}
	out := &mesh.Mesh{Unit: 1, Cloud: m.Cloud}
	put := func(v uint32) {
		p := m.At(v)
		for _, row := range turn {
			x := scale*(row[0]*float64(p[0])+row[1]*float64(p[1])+row[2]*float64(p[2])) + shift[len(out.Positions)%3]
			x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
			out.Positions = append(out.Positions, float32(x))
		}
	}
	if m.Cloud {
		for _, v := range rng.Perm(m.Vertices()) {
			put(uint32(v))
		}
		return out
	}
	for _, i := range rng.Perm(m.Triangles()) {
		a, b, c := m.Corners(i)
		for range rng.IntN(3) {
			a, b, c = b, c, a
		}
		put(a)
		put(b)
		put(c)
	}
	if rng.IntN(2) == 0 {
		return out.Weld()
	}
	return out
}

// rotation returns a random rotation.
func rotation(rng *rand.Rand) matrix {
	var q [4]float64
	norm := 0.0
	for i := range q {
		q[i] = rng.NormFloat64()
		norm += q[i] * q[i]
	}
	for i := range q {
		q[i] /= math.Sqrt(norm)
	}
	w, x, y, z := q[0], q[1], q[2], q[3]
	return matrix{
		{1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y)},
		{2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x)},
		{2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y)},
	}
}
