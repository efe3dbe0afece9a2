package draco

// splitAttributes decodes along which edges the connectivity of the attributes is cut open
// (DecodeAttributeSeams), and assigns points to corners.
func (d *decoder) splitAttributes(seams []bitDecoder) error {
	t := d.table
	corners := len(t.vertex)
	if err := d.reserve(corners, int64(4+len(seams)*(4+4+4))); err != nil {
		return err
	}
	opposites := make([][]int32, len(seams))
	for i := range opposites {
		opposites[i] = append([]int32(nil), t.opposite...)
	}
	for c, other := range t.opposite {
		if other == none || int(other)/3 < c/3 {
			continue
		}
		for i := range seams {
			if seams[i].next() {
				opposites[i][c], opposites[i][other] = none, none
			}
		}
		if err := interrupted(d.ctx, c); err != nil {
			return err
		}
	}
	for _, opposite := range opposites {
		d.split = append(d.split, t.split(opposite))
	}
	d.corners = make([]int32, corners)
	for v, c := range t.first {
		if c == none {
			continue
		}
		first := d.firstPoint(int32(v))
		for c = first; ; {
			d.corners[c] = int32(d.points)
			right := t.swingRight(c)
			if right == none || right == first {
				break
			}
			for _, s := range d.split {
				if s.vertex[c] != s.vertex[right] {
					d.points++
					break
				}
			}
			c = right
		}
		d.points++
	}
	return nil
}

// firstPoint returns the corner of a vertex at which its first point begins: the left-most one, or
// one at which a vertex of an attribute begins, if there is such.
func (d *decoder) firstPoint(v int32) int32 {
	c := d.table.first[v]
	if d.table.isOpen(v) {
		return c
	}
	for _, s := range d.split {
		for at := d.table.swingRight(c); at != c; at = d.table.swingRight(at) {
			if s.vertex[at] != s.vertex[c] {
				return at
			}
		}
	}
	return c
}
