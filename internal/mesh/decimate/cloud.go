package decimate

import (
	"context"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// thin merges the points of a cloud in each cell of a grid into their mean. It chooses a grid that
// leaves at most points, and not many fewer if possible.
func thin(ctx context.Context, m *mesh.Mesh, points int, progress func(done float64)) (*mesh.Mesh, error) {
	n := m.Vertices()
	if n <= points {
		progress(1)
		return m, ctx.Err()
	}
	f := newFrame(m.Box(), m.Origin)
	look := search{side: max(finest, min(1, math.Sqrt(6/float64(max(points, 1)))))}
	g := newCells(points)
	best, most := 4.0, 1 // one cell of that size contains everything
	for i := range 2 * attempts {
		g.reset(look.side)
		for v := range n {
			if v%(1<<14) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if g.of(f.in(m.At(uint32(v)))); len(g.keys) > 2*points {
				break
			}
		}
		count := len(g.keys)
		if count <= points && count > most {
			best, most = look.side, count
		}
		progress(0.9 * float64(i+1) / (2 * attempts))
		if count <= points && count >= points-points/8 || !look.next(float64(count), 0.95*float64(points)) {
			break
		}
	}
	g.reset(best)
	out, err := means(ctx, m, f, g, points)
	if err != nil {
		return nil, err
	}
	progress(1)
	return out, nil
}

// means returns the means of the points in each cell, at most points of them.
func means(ctx context.Context, m *mesh.Mesh, f frame, g *cells, points int) (*mesh.Mesh, error) {
	sums := make([]vector, 0, points)
	counts := make([]float64, 0, points)
	var tones [][4]float64
	for v := range m.Vertices() {
		if v%(1<<14) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p := f.in(m.At(uint32(v)))
		cell := int(g.of(p))
		if cell >= points {
			continue
		}
		if cell == len(sums) {
			sums, counts, tones = append(sums, vector{}), append(counts, 0), append(tones, [4]float64{})
		}
		sums[cell] = sums[cell].plus(p)
		counts[cell]++
		if m.Colors != nil {
			for i := range 4 {
				tones[cell][i] += float64(m.Colors[4*v+i])
			}
		}
	}
	out := *m
	out.Positions, out.Colors, out.Normals = make([]float32, 0, 3*len(sums)), nil, nil
	for i, sum := range sums {
		p := f.out(sum.times(1 / counts[i]))
		out.Positions = append(out.Positions, p[:]...)
		if m.Colors != nil {
			for _, x := range tones[i] {
				out.Colors = append(out.Colors, uint8(x/counts[i]+0.5))
			}
		}
	}
	return &out, nil
}
