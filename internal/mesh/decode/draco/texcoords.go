package draco

import "math"

// textureCoords predicts value i, the texture coordinates of a vertex of a triangle, from those of
// its other two vertices, as if the triangle had the same shape in the texture as in space
// (Texcoords Prediction Decoder). The arithmetic may overflow, as it does in the encoder.
func (p *predictor) textureCoords(values []int32, i int, predicted *[4]int32) {
	c := p.s.corners[i]
	right, left := p.s.value(next(c)), p.s.value(previous(c))
	if right >= i {
		if i > 0 {
			copy(predicted[:2], values[2*i-2:])
		}
		return
	}
	copy(predicted[:2], values[2*right:2*right+2])
	if left >= i {
		return
	}
	from := [2]int64{int64(values[2*right]), int64(values[2*right+1])}
	along := [2]int64{int64(values[2*left]) - from[0], int64(values[2*left+1]) - from[1]}
	if along == [2]int64{} {
		return
	}
	origin := p.position(right)
	edge, tip := subtract(p.position(left), origin), subtract(p.position(i), origin)
	squared := dot(edge, edge)
	if squared == 0 {
		return
	}
	// The foot of the tip on the edge is at part/squared of it.
	part := dot(edge, tip)
	var foot [3]int64
	for k := range foot {
		foot[k] = part * edge[k] / squared
	}
	height := subtract(tip, foot)
	scale := int64(root(uint64(dot(height, height)) * uint64(squared)))
	last := len(p.turns) - 1
	if last < 0 {
		p.d.malformed("has too few orientations of texture coordinates")
		return
	}
	if !p.turns[last] {
		scale = -scale
	}
	p.turns = p.turns[:last]
	across := [2]int64{along[1], -along[0]}
	for k := range from {
		predicted[k] = int32((from[k]*squared + along[k]*part + across[k]*scale) / squared)
	}
}

// position returns the position of the vertex of value i.
func (p *predictor) position(i int) (at [3]int64) {
	v := p.d.positionsSequence.value(p.s.corners[i])
	for k := range at {
		at[k] = int64(p.d.positions[3*v+k])
	}
	return at
}

func subtract(a, b [3]int64) [3]int64 { return [3]int64{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

func dot(a, b [3]int64) int64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// root returns the square root of n, rounded down (IntSqrt).
func root(n uint64) uint64 {
	r := min(uint64(math.Sqrt(float64(n))), math.MaxUint32)
	for r*r > n {
		r--
	}
	for r < math.MaxUint32 && (r+1)*(r+1) <= n {
		r++
	}
	return r
}
