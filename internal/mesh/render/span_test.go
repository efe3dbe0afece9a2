package render

import (
	"math/rand/v2"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// TestRows compares the samples that rows fills with those at which no edge function is negative.
func TestRows(t *testing.T) {
	const side = 40
	rng := rand.New(rand.NewPCG(1, 2))
	m := &mesh.Mesh{Positions: make([]float32, 9)}
	for n := range 20_000 {
		reach := int32(1 + rng.IntN(side))
		at := func() seen {
			s := seen{rng.Int32N(reach * subsample), rng.Int32N(reach * subsample), 1}
			if n%3 == 0 { // edges that meet centers of samples
				s.x, s.y = s.x&^7, s.y&^7
			}
			return s
		}
		f := &face{mesh: m, camera: &camera{}, flat: toViewer, seen: [3]seen{at(), at(), at()}}
		a, b, c := &f.seen[0], &f.seen[1], &f.seen[2]
		if edge(a, b, c.x, c.y) < 0 {
			*b, *c = *c, *b
		}
		if edge(a, b, c.x, c.y) == 0 {
			continue
		}
		const half = subsample / 2
		e := &edges{}
		for k, of := range [3][2]*seen{{b, c}, {c, a}, {a, b}} {
			e.at[k] = float64(edge(of[0], of[1], half, half))
			e.across[k] = float64(of[0].y-of[1].y) * subsample
			e.down[k] = float64(of[1].x-of[0].x) * subsample
		}
		r := newRaster(side, side, false)
		r.rows(f, e, 0, side, side, 1)
		for i, near := range r.near {
			x, y := int32(i%side)*subsample+half, int32(i/side)*subsample+half
			want := edge(b, c, x, y) >= 0 && edge(c, a, x, y) >= 0 && edge(a, b, x, y) >= 0
			if got := near != 0; got != want {
				t.Fatalf("triangle %v: sample %d, %d: filled %v, want %v", f.seen, i%side, i/side, got, want)
			}
		}
	}
}

// TestRecentVertices checks that a triangle has its own vertices when others with the same place
// among the recent ones came before.
func TestRecentVertices(t *testing.T) {
	m := ball(20_000, 0.3).Shaded(mesh.CreaseAngle)
	if m.Vertices() < 4*recent {
		t.Fatalf("%d vertices are too few", m.Vertices())
	}
	c := look(m, 512, 512)
	g := newGround(c)
	f := newFace(m, c)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		i := rng.IntN(m.Triangles())
		f.load(i, g)
		for k, v := range f.corners {
			p := m.At(v)
			x, y, z := float64(p[0]), float64(p[1]), float64(p[2])
			n := c.turn([3]float64{float64(m.Normals[3*v]), float64(m.Normals[3*v+1]), float64(m.Normals[3*v+2])})
			if f.seen[k] != c.project(x, y, z) || f.normals[k] != n || f.shadow[k] != g.above(x, y, z) {
				t.Fatalf("triangle %d, corner %d has what belongs to another vertex", i, k)
			}
		}
	}
}
