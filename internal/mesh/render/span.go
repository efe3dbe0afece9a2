package render

// edges are the edge functions of a triangle, which are not negative inside: their values at the
// first sample of its bounding box, and their changes to the next sample and to the next row. They
// are integers of less than 53 bits, so float64 holds them exactly.
type edges struct{ at, across, down [3]float64 }

// bound is where the samples of a row that are inside an edge begin or end: the first sample inside
// or the first one after them, not rounded down yet, and its change to the next row.
type bound struct{ at, down float64 }

// bounds sets where the rows of a triangle begin and end. A triangle has one edge on one side and
// two on the other; the one is set twice.
func (f *edges) bounds(begin, end *[2]bound) {
	begins, ends := 0, 0
	for k := range f.across { // a range over values would copy them
		across := f.across[k]
		// An edge function e that increases is not negative from sample -e/across on, and one that
		// decreases up to there. As e and across are integers, half a unit of e keeps the quotient
		// away from whole numbers by more than the rounding errors.
		inverse := float64(1 << 20) // if e is constant, all of the row is inside, or outside
		if across != 0 {
			inverse = 1 / across
		}
		b := bound{1 - (f.at[k]+0.5)*inverse, -f.down[k] * inverse}
		if across >= 0 {
			begin[begins&1] = b
			begins++
		} else {
			end[ends&1] = b
			ends++
		}
	}
	if begins == 1 {
		begin[1] = begin[0]
	} else {
		end[1] = end[0]
	}
}

// rows draws the rows of a triangle and returns the amount of work, in samples. first is the first
// sample of its bounding box, and scale converts edge functions to weights.
func (r *raster) rows(t *face, f *edges, first, width, height int, scale float32) (work int) {
	var begin, end [2]bound
	f.bounds(&begin, &end)
	begin0, begin1, end0, end1 := begin[0].at, begin[1].at, end[0].at, end[1].at
	eB, eC := f.at[1], f.at[2]
	dB, dC := f.across[1], f.across[2]
	smooth := t.vertices != nil && r.color == nil
	gentle := smooth && t.gentle(float32(dB)*scale, float32(dC)*scale)
	for range height {
		from, to := max(0, int(begin0), int(begin1)), min(width, int(end0), int(end1))
		if from < to {
			sB, sC := eB+float64(from)*dB, eC+float64(from)*dC
			switch {
			case gentle:
				r.gentle(&t.slope, first+from, first+to, float32(sB)*scale, float32(sC)*scale)
			case smooth:
				r.smooth(t, first+from, first+to, float32(sB)*scale, float32(sC)*scale, float32(dB)*scale, float32(dC)*scale)
			default:
				r.row(t, first+from, first+to, sB, sC, dB, dC, scale)
			}
		}
		// What counts as work decides which meshes are rejected.
		if work += 3 + width; width > 8 {
			work += max(0, to-from-1) - (width - 1)
		}
		first += r.width
		eB, eC = eB+f.down[1], eC+f.down[2]
		begin0, begin1 = begin0+begin[0].down, begin1+begin[1].down
		end0, end1 = end0+end[0].down, end1+end[1].down
	}
	return work
}

// row draws samples of a row that are inside a triangle. sB and sC are edge functions at the first
// one, dB and dC their changes.
func (r *raster) row(t *face, from, to int, sB, sC, dB, dC float64, scale float32) {
	a := t.seen[0].near
	nearB, nearC := t.seen[1].near-a, t.seen[2].near-a
	for k, before := range r.near[from:to] {
		wB, wC := float32(sB)*scale, float32(sC)*scale
		if near := a + wB*nearB + wC*nearC; near > before {
			r.sample(t, from+k, near, wB, wC)
		}
		sB, sC = sB+dB, sC+dC
	}
}

// smooth is row for a mesh with normals and without colors.
func (r *raster) smooth(t *face, from, to int, wB, wC, dB, dC float32) {
	nearB, nearC := t.seen[1].near-t.seen[0].near, t.seen[2].near-t.seen[0].near
	first, step := t.seen[0].near+wB*nearB+wC*nearC, dB*nearB+dC*nearC
	normal, turn := t.normal(1-wB-wC, wB, wC), t.normal(-dB-dC, dB, dC)
	row := r.near[from:to]
	facing := r.facing[from:to][:len(row)]
	k := float32(0)
	for i, before := range row {
		if near := first + k*step; near > before {
			row[i] = near
			facing[i] = direction{normal.x + k*turn.x, normal.y + k*turn.y, normal.z + k*turn.z}.pack()
		}
		k++
	}
}

// slope is what is interpolated on a face without colors whose corners face about the same way: the
// nearness and the place of the normal, at the first corner, and their changes to the second and
// third corner and to the next sample.
type slope struct {
	near, nearB, nearC, step float32
	u, uB, uC, uStep         float32
	v, vB, vC, vStep         float32
}

// gentle computes t.slope, if the corners face about the same way. dB and dC are the changes of the
// weights from one sample to the next.
func (t *face) gentle(dB, dC float32) bool {
	// About eleven degrees. The normals in between are then right to a degree or two.
	const most = 32
	a, b, c := &t.vertices[t.corners[0]], &t.vertices[t.corners[1]], &t.vertices[t.corners[2]]
	uB, uC, vB, vC := b.place.u-a.place.u, c.place.u-a.place.u, b.place.v-a.place.v, c.place.v-a.place.v
	if abs(uB) > most || abs(uC) > most || abs(vB) > most || abs(vC) > most {
		return false
	}
	nearB, nearC := b.seen.near-a.seen.near, c.seen.near-a.seen.near
	s := &t.slope
	s.near, s.nearB, s.nearC, s.step = a.seen.near, nearB, nearC, dB*nearB+dC*nearC
	s.u, s.uB, s.uC, s.uStep = a.place.u, uB, uC, dB*uB+dC*uC
	s.v, s.vB, s.vC, s.vStep = a.place.v, vB, vC, dB*vB+dC*vC
	return true
}

// gentle is smooth for a face with a slope. wB and wC are the weights of the first sample.
func (r *raster) gentle(s *slope, from, to int, wB, wC float32) {
	first, u, v := s.near+wB*s.nearB+wC*s.nearC, s.u+wB*s.uB+wC*s.uC, s.v+wB*s.vB+wC*s.vC
	row := r.near[from:to]
	facing := r.facing[from:to][:len(row)]
	k := float32(0)
	for i, before := range row {
		if near := first + k*s.step; near > before {
			row[i] = near
			facing[i] = place{u + k*s.uStep, v + k*s.vStep}.pack()
		}
		k++
	}
}
