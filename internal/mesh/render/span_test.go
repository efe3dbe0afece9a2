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

// TestGentle checks that normals are about the same if their places are interpolated. For a mesh
// with colors, the normals themselves are interpolated.
func TestGentle(t *testing.T) {
	m := ball(8000, 0.3).Shaded(mesh.CreaseAngle)
	colored := *m
	colored.Colors = make([]uint8, 4*m.Vertices())
	_, fast := draw(t, m, 512, 512)
	_, exact := draw(t, &colored, 512, 512)
	different, covered := 0, 0
	for i, near := range exact.near {
		if near == 0 {
			continue
		}
		covered++
		a, b := unpack(fast.facing[i]), unpack(exact.facing[i])
		if a.dot(b) < 0.9994 { // about two degrees
			different++
		}
	}
	if different > covered/1000 || covered < len(exact.near)/3 {
		t.Errorf("%d of %d normals differ by more than two degrees", different, covered)
	}
}
