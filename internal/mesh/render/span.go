package render

// edges are the edge functions of a triangle, which are not negative inside: their values at the
// first sample of its bounding box, and their changes to the next sample and to the next row. They
// are integers of less than 53 bits, so float64 holds them exactly.
type edges struct{ at, across, down [3]float64 }

// bound is where the samples of a row that are inside an edge begin or end: the first sample inside
// or the first one after them, not rounded down yet, and its change to the next row.
type bound struct{ at, down float64 }

// bounds returns where the rows of a triangle begin and end. A triangle has one edge on one side
// and two on the other; the one is returned twice.
func (f *edges) bounds() (begin, end [2]bound) {
	begins, ends := 0, 0
	for k, across := range f.across {
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
	return begin, end
}

// rows draws the rows of a triangle and returns the amount of work, in samples. first is the first
// sample of its bounding box, and scale converts edge functions to weights.
func (r *raster) rows(t *face, f *edges, first, width, height int, scale float32) (work int) {
	begin, end := f.bounds()
	begin0, begin1, end0, end1 := begin[0].at, begin[1].at, end[0].at, end[1].at
	eB, eC := f.at[1], f.at[2]
	dB, dC := f.across[1], f.across[2]
	smooth := t.mesh.Normals != nil && r.color == nil
	for range height {
		from, to := max(0, int(begin0), int(begin1)), min(width, int(end0), int(end1))
		if from < to {
			sB, sC := eB+float64(from)*dB, eC+float64(from)*dC
			if smooth {
				r.smooth(t, first+from, first+to, sB, sC, dB, dC, scale)
			} else {
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
func (r *raster) smooth(t *face, from, to int, sB, sC, dB, dC float64, scale float32) {
	a := t.seen[0].near
	nearB, nearC := t.seen[1].near-a, t.seen[2].near-a
	n := &t.normals
	row := r.near[from:to]
	facing := r.facing[from:to][:len(row)]
	for k, before := range row {
		wB, wC := float32(sB)*scale, float32(sC)*scale
		if near := a + wB*nearB + wC*nearC; near > before {
			row[k] = near
			wA := 1 - wB - wC
			facing[k] = direction{
				wA*n[0].x + wB*n[1].x + wC*n[2].x,
				wA*n[0].y + wB*n[1].y + wC*n[2].y,
				wA*n[0].z + wB*n[1].z + wC*n[2].z,
			}.pack()
		}
		sB, sC = sB+dB, sC+dC
	}
}
