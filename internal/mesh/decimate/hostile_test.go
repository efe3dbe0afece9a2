package decimate

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
)

// hostile returns meshes that break algorithms that assume few faces for each vertex and successful
// collapses.
func hostile(n int) map[string]*mesh.Mesh {
	hub, book, same, spike, line := &mesh.Mesh{}, &mesh.Mesh{}, &mesh.Mesh{}, &mesh.Mesh{}, &mesh.Mesh{}
	scrap := &mesh.Mesh{}
	r := rng()
	for i := range n {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		sin1, cos1 := math.Sincos(2 * math.Pi * float64((i+1)%n) / float64(n))
		hub.Positions = append(hub.Positions, 0, 0, 1, float32(cos), float32(sin), 0, float32(cos1), float32(sin1), 0)
		book.Positions = append(book.Positions, 0, 0, 0, 0, 0, 1, float32(cos), float32(sin), 0)
		same.Positions = append(same.Positions, 0, 0, 0, 0, 0, 1, 0, 1, 0)
		spike.Positions = append(spike.Positions, math.MaxFloat32, 0, float32(i), -math.MaxFloat32, 1, 0, float32(i),
			math.MaxFloat32, 1e-40)
		line.Positions = append(line.Positions, float32(i), 0, 0, float32(i+1), 0, 0, float32(i+2), 0, 0)
		for range 9 {
			scrap.Positions = append(scrap.Positions, r.Float32())
		}
	}
	return map[string]*mesh.Mesh{"hub": hub, "book": book, "same": same, "spike": spike, "line": line, "scrap": scrap}
}

func TestHostile(t *testing.T) {
	for name, m := range hostile(20_000) {
		for _, n := range []int{5000, 10, 0} {
			if d := to(t, m, n); n > 0 && d.Triangles() == 0 && name != "same" {
				t.Errorf("%s: nothing is left of %d triangles where %d are wanted", name, m.Triangles(), n)
			}
		}
	}
	point := &mesh.Mesh{Positions: slices.Repeat([]float32{1, 2, 3}, 300)}
	if d := to(t, point, 10); d.Triangles() != 0 {
		t.Errorf("%d triangles of a point", d.Triangles())
	}
}

func TestCanceled(t *testing.T) {
	for name, m := range map[string]*mesh.Mesh{
		"mesh": decoded.Sphere(t, 100_000), "cloud": {Cloud: true, Positions: decoded.Sphere(t, 100_000).Positions},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		last := 0.0
		_, err := To(ctx, m, 100, func(done float64) {
			if done < last || done > 1 {
				t.Errorf("%s: progress went from %v to %v", name, last, done)
			}
			if last = done; done > 0.05 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || last > 0.6 {
			t.Errorf("%s: canceled early, it went to %v with %v", name, last, err)
		}
	}
}
