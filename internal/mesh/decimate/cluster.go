package decimate

import (
	"context"
	"math"
	"math/bits"

	"github.com/meshyard/meshyard/internal/mesh"
)

// attempts is the maximum number of grids that are tried.
const attempts = 8

// near is the squared distance of a color from the mean of its cell below which it is replaced by
// the mean. Other colors belong to another part.
const near = 0.1

// cluster merges the vertices in each cell of a grid into the point that is nearest to the faces
// there, and drops degenerate triangles. It chooses a grid that leaves about goal triangles, at
// least least if possible, and never more than 1.5 times goal.
func cluster(ctx context.Context, m *mesh.Mesh, f frame, goal, least int,
	progress func(done float64)) (*surface, error) {
	area := 0.0
	for t := range m.Triangles() {
		if t%(1<<14) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a, b, c := m.Corners(t)
		p := f.in(m.At(a))
		n := f.in(m.At(b)).minus(p).cross(f.in(m.At(c)).minus(p))
		area += math.Sqrt(n.dot(n)) / 2
	}
	progress(0.1)
	// On average over its directions, a surface occupies 3/2 cells for each squared cell side, and
	// has two triangles for each vertex.
	look := search{side: max(finest, min(0.5, math.Sqrt(3*area/float64(goal))))}
	k := &clusters{
		cells: newCells(goal), surface: &surface{corners: make([]uint32, 0, 3*goal)}, nets: make([]int8, 0, goal),
		slots: make([]uint32, 1<<bits.Len(uint(goal)*9/4)), limit: goal + goal/2,
	}
	best, most := 0.0, 0.0 // the size with the most triangles below the limit, and their number
	for i := range attempts {
		n, err := k.divide(ctx, m, f, look.side)
		if err != nil {
			return nil, err
		}
		if n <= float64(k.limit) && n > most {
			best, most = look.side, n
		}
		progress(0.1 + 0.4*float64(i+1)/attempts)
		if best == look.side && n >= float64(max(least, goal/2)) || !look.next(n, float64(goal)) {
			break
		}
	}
	if best > 0 && best != k.side {
		if _, err := k.divide(ctx, m, f, best); err != nil {
			return nil, err
		}
	}
	progress(0.5)
	k.unfold()
	if err := k.place(ctx, m, f); err != nil {
		return nil, err
	}
	progress(1)
	return k.surface, nil
}

// clusters are the vertices of a mesh grouped by cell.
type clusters struct {
	*cells
	// its vertices are cells; the corners of a triangle are in ascending order until unfold orients
	// them
	surface *surface
	// for each triangle the number of original triangles, minus those with the opposite
	// orientation; its parity is exact
	nets  []int8
	slots []uint32 // triangle + 1, by its corners
	limit int      // on the numbers of triangles and of cells
}

// divide creates the triangles whose corners are in three different cells, each once. It returns
// their number; above the limit this is an estimate, and only the first are created.
func (k *clusters) divide(ctx context.Context, m *mesh.Mesh, f frame, side float64) (float64, error) {
	s := k.surface
	k.reset(side)
	clear(k.slots)
	s.corners, s.colors, k.nets = s.corners[:0], s.colors[:0], k.nets[:0]
	all := m.Triangles()
	for t := range all {
		if t%(1<<14) == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if n := max(s.triangles(), len(k.keys)); n >= k.limit {
			return float64(n+1) * float64(all) / float64(t), nil
		}
		a, b, c := m.Corners(t)
		x, y, z := k.of(f.in(m.At(a))), k.of(f.in(m.At(b))), k.of(f.in(m.At(c)))
		if x == y || y == z || z == x {
			continue
		}
		for x > y || x > z {
			x, y, z, a, b, c = y, z, x, b, c, a
		}
		front := int8(1)
		if y > z {
			y, z, b, c, front = z, y, c, b, -1
		}
		if k.insert(x, y, z, front) && m.Colors != nil {
			s.colors = append(s.colors, color(m, a), color(m, b), color(m, c))
		}
	}
	return float64(s.triangles()), nil
}

// insert counts a triangle and reports whether it is new.
func (k *clusters) insert(x, y, z uint32, front int8) bool {
	h, l := bits.Mul64((uint64(x)<<32|uint64(y))^salt, factor)
	h, l = bits.Mul64(h^l^uint64(z), factor)
	at := (h ^ l) & uint64(len(k.slots)-1)
	for ; k.slots[at] != 0; at = (at + 1) & uint64(len(k.slots)-1) {
		t := k.slots[at] - 1
		if c := k.surface.corners[3*t : 3*t+3]; c[0] == x && c[1] == y && c[2] == z {
			if k.nets[t] += front; k.nets[t] == 101 || k.nets[t] == -101 {
				k.nets[t] -= 2 * front
			}
			return false
		}
	}
	k.surface.corners = append(k.surface.corners, x, y, z)
	k.nets = append(k.nets, front)
	k.slots[at] = uint32(k.surface.triangles())
	return true
}

// unfold orients each triangle to its visible side. If an even number was merged, as in a thin
// wall, it keeps both sides. So each edge of a closed surface still has an even number of faces,
// and walls thinner than a cell are kept.
func (k *clusters) unfold() {
	s := k.surface
	for t, net := range k.nets {
		c := s.corners[3*t : 3*t+3 : 3*t+3]
		if net%2 == 0 {
			s.corners = append(s.corners, c[0], c[2], c[1])
			if s.colors != nil {
				s.colors = append(s.colors, s.colors[3*t], s.colors[3*t+2], s.colors[3*t+1])
			}
		} else if net < 0 {
			c[1], c[2] = c[2], c[1]
			if s.colors != nil {
				s.colors[3*t+1], s.colors[3*t+2] = s.colors[3*t+2], s.colors[3*t+1]
			}
		}
	}
	k.slots, k.nets = nil, nil
}

// place moves the vertex of each cell to the point nearest to the planes of all triangles with a
// corner there.
func (k *clusters) place(ctx context.Context, m *mesh.Mesh, f frame) error {
	n := len(k.keys)
	quadrics, sums, counts := make([]quadric, n), make([]vector, n), make([]uint32, n)
	var tones [][4]uint32
	if m.Colors != nil {
		tones = make([][4]uint32, n)
	}
	for t := range m.Triangles() {
		if t%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		a, b, c := m.Corners(t)
		ends := [3]vector{f.in(m.At(a)), f.in(m.At(b)), f.in(m.At(c))}
		normal := ends[1].minus(ends[0]).cross(ends[2].minus(ends[0]))
		length := math.Sqrt(normal.dot(normal))
		if length > 0 {
			normal = normal.times(1 / length)
		}
		for i, v := range [3]uint32{a, b, c} {
			cell, ok := k.look(ends[i])
			if !ok {
				continue // beyond the limit
			}
			// Relative to its center, a cell is small enough to avoid rounding errors.
			quadrics[cell].plane(normal, ends[i].minus(k.middle(cell)), length)
			sums[cell] = sums[cell].plus(ends[i].minus(k.middle(cell)))
			counts[cell]++
			if tones != nil {
				for i := range 4 {
					tones[cell][i] += uint32(m.Colors[4*int(v)+i])
				}
			}
		}
	}
	k.surface.positions = make([]vector, n)
	for i, count := range counts {
		mean := sums[i].times(1 / float64(count))
		q := &quadrics[i]
		q.point(mean, 1e-3*q.weight())
		best, ok := q.least()
		for _, x := range best {
			ok = ok && math.Abs(x) <= k.side/2
		}
		if !ok {
			best = mean
		}
		k.surface.positions[i] = best.plus(k.middle(uint32(i)))
	}
	for i, c := range k.surface.colors {
		t, count := tones[k.surface.corners[i]], counts[k.surface.corners[i]]
		mean := uint32(0)
		for j, x := range t {
			mean |= (x + count/2) / count << (8 * j)
		}
		if contrast(c, mean) < near {
			k.surface.colors[i] = mean
		}
	}
	return nil
}
