package measure

import (
	"context"
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
)

// topology counts how the faces of a welded mesh are connected.
type topology struct {
	faces      int // with three different vertices; the other counts refer to these
	open       int // edges with one face
	crowded    int // edges with more than two faces
	turned     int // edges whose two faces have opposite orientation
	pinched    int // vertices whose faces form more than one fan
	components int
}

// survey inspects each vertex of a welded mesh and its edges.
func survey(ctx context.Context, w *mesh.Mesh, progress func(done float64)) (topology, error) {
	var s topology
	vertices := uint32(w.Vertices())
	// corners[first[v]:first[v+1]] are the corners at vertex v, once all are placed
	first := make([]uint32, vertices+1)
	parts := newForest(int(vertices))
	for i := 0; i+3 <= len(w.Indices); i += 3 {
		if i%(3<<14) == 0 && ctx.Err() != nil {
			return s, ctx.Err()
		}
		a, b, c := w.Indices[i], w.Indices[i+1], w.Indices[i+2]
		if a == b || b == c || c == a {
			continue
		}
		s.faces++
		first[a]++
		first[b]++
		first[c]++
		parts.join(a, b)
		parts.join(b, c)
	}
	progress(0.2)
	sum, most := uint32(0), uint32(0)
	for v, n := range first {
		if n > 0 {
			s.components++
		}
		most = max(most, n)
		sum += n
		first[v] = sum
	}
	s.components -= parts.joins
	parts = nil
	corners := make([]uint32, sum)
	for i := len(w.Indices) - 3; i >= 0; i -= 3 {
		if i%(3<<14) == 0 && ctx.Err() != nil {
			return s, ctx.Err()
		}
		a, b, c := w.Indices[i], w.Indices[i+1], w.Indices[i+2]
		if a == b || b == c || c == a {
			continue
		}
		for k, v := range [3]uint32{a, b, c} {
			first[v]--
			corners[first[v]] = uint32(i + k)
		}
	}
	progress(0.4)
	around := surroundings{fans: newForest(int(most))}
	for v := range vertices {
		if v%(1<<13) == 0 {
			if ctx.Err() != nil {
				return s, ctx.Err()
			}
			progress(0.4 + 0.6*float64(v)/float64(vertices))
		}
		around.count(&s, w.Indices, v, corners[first[v]:first[v+1]])
	}
	progress(1)
	return s, nil
}

// surroundings is scratch memory for inspecting one vertex after another.
type surroundings struct {
	// neighbor<<32 | face<<1 | whether the edge leads to the vertex; faces are numbered from 0 at
	// each vertex
	spokes []uint64
	fans   *forest
}

// count adds the findings around vertex v to s. corners are its corners. Each edge is counted at
// its lower end.
func (r *surroundings) count(s *topology, indices []uint32, v uint32, corners []uint32) {
	if len(corners) == 0 {
		return
	}
	r.spokes = r.spokes[:0]
	for face, c := range corners {
		t := c - c%3
		next, last := indices[t+(c+1-t)%3], indices[t+(c+2-t)%3]
		r.spokes = append(r.spokes, uint64(next)<<32|uint64(face)<<1, uint64(last)<<32|uint64(face)<<1|1)
	}
	slices.Sort(r.spokes)
	r.fans.reset(len(corners))
	for start := 0; start < len(r.spokes); {
		neighbor := uint32(r.spokes[start] >> 32)
		inward, end := uint64(0), start
		for ; end < len(r.spokes) && uint32(r.spokes[end]>>32) == neighbor; end++ {
			inward += r.spokes[end] & 1
			r.fans.join(uint32(r.spokes[start])>>1, uint32(r.spokes[end])>>1)
		}
		if v < neighbor {
			switch n := end - start; {
			case n == 1:
				s.open++
			case n > 2:
				s.crowded++
			case inward != 1:
				s.turned++
			}
		}
		start = end
	}
	if len(corners)-r.fans.joins > 1 {
		s.pinched++
	}
}

// forest is a disjoint-set forest: each number points to a lower one of its set, or to itself.
type forest struct {
	parents []uint32
	joins   int // number of unions
}

func newForest(n int) *forest {
	f := &forest{parents: make([]uint32, n)}
	f.reset(n)
	return f
}

// reset creates n sets of one number each. n must not exceed the size the forest was made for.
func (f *forest) reset(n int) {
	for i := range f.parents[:n] {
		f.parents[i] = uint32(i)
	}
	f.joins = 0
}

func (f *forest) root(a uint32) uint32 {
	for f.parents[a] != a {
		f.parents[a] = f.parents[f.parents[a]]
		a = f.parents[a]
	}
	return a
}

func (f *forest) join(a, b uint32) {
	a, b = f.root(a), f.root(b)
	if a == b {
		return
	}
	f.parents[max(a, b)] = min(a, b)
	f.joins++
}
