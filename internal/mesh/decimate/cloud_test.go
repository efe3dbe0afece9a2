package decimate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
)

func rng() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func TestCloud(t *testing.T) {
	r := rng()
	cube := &mesh.Mesh{Cloud: true, Origin: [3]float64{1e6, 0, 0}}
	for range 100_000 {
		cube.Positions = append(cube.Positions, r.Float32(), r.Float32(), r.Float32())
		cube.Colors = append(cube.Colors, 10, 200, 30, 255)
	}
	same := &mesh.Mesh{Cloud: true, Positions: slices.Repeat([]float32{1, 2, 3}, 1000)}
	for _, c := range []struct {
		name          string
		mesh          *mesh.Mesh
		points, least int
	}{
		{"surface", &mesh.Mesh{Cloud: true, Positions: decoded.Sphere(t, 50_000).Weld().Positions}, 5000, 4000},
		{"cube", cube, 5000, 4000}, {"few of a cube", cube, 8, 1}, {"one of a cube", cube, 1, 1}, {"none", cube, 0, 0},
		{"all the same", same, 10, 1},
	} {
		d, err := To(t.Context(), c.mesh, c.points, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := d.Vertices(); n > c.points || n < c.least {
			t.Errorf("%s: %d points, want %d to %d", c.name, n, c.least, c.points)
		}
		if !d.Cloud || d.Origin != c.mesh.Origin {
			t.Errorf("%s: %v", c.name, d)
		}
		for i := 0; i < len(d.Colors); i += 4 {
			if got := [4]uint8(d.Colors[i : i+4]); got != [4]uint8{10, 200, 30, 255} {
				t.Fatalf("%s: the color %v", c.name, got)
			}
		}
		if a, b := c.mesh.Box(), d.Box(); c.points >= 5000 {
			for i := range 3 {
				if b.Min[i]-a.Min[i] > 0.05 || a.Max[i]-b.Max[i] > 0.05 {
					t.Errorf("%s: the box goes from %v to %v", c.name, a, b)
				}
			}
		}
	}
}
