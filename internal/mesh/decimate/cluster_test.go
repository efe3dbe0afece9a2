package decimate

import (
	"runtime"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
)

func clusterTo(t *testing.T, m *mesh.Mesh, goal, least int) *mesh.Mesh {
	t.Helper()
	f := newFrame(m.Box(), m.Origin)
	s, err := cluster(t.Context(), m, f, goal, least, func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	if n := s.triangles(); n > 2*goal {
		t.Errorf("%d triangles, where %d are the goal", n, goal)
	}
	return s.mesh(m, f)
}

func TestCluster(t *testing.T) {
	meshes := decoded.Meshes(t)
	meshes["sphere"] = decoded.Sphere(t, 100_000)
	for name, m := range meshes {
		goal := m.Triangles() / 4
		if goal < 4000 {
			continue
		}
		d := clusterTo(t, m, goal, goal/2)
		t.Logf("%s: %d to %d triangles, goal %d", name, m.Triangles(), d.Triangles(), goal)
		if n := d.Triangles(); n < goal/2 {
			t.Errorf("%s: %d triangles, where %d are the goal", name, n, goal)
		}
		edges := make(map[[2]uint32]int)
		for i := range d.Triangles() {
			a, b, c := d.Corners(i)
			for _, e := range [3][2]uint32{{a, b}, {b, c}, {c, a}} {
				edges[[2]uint32{min(e[0], e[1]), max(e[0], e[1])}]++
			}
		}
		odd := 0
		for _, n := range edges {
			odd += n & 1
		}
		if odd > 0 && measured(t, m).Watertight {
			t.Errorf("%s: %d of %d edges have an odd number of faces, though it was closed", name, odd, len(edges))
		}
		if most, _ := apart(m, d, rng(), 700); most > 0.03*m.Box().Diagonal() {
			t.Errorf("%s: %v apart", name, most)
		}
	}
}

func TestClusterColors(t *testing.T) {
	red, blue := [4]uint8{255, 0, 0, 255}, [4]uint8{0, 0, 255, 255}
	d := clusterTo(t, square(100, func(x, y float64) [4]uint8 {
		if x < 0.5 {
			return red
		}
		return blue
	}), 1000, 500)
	for v := range d.Vertices() {
		if c := [4]uint8(d.Colors[4*v : 4*v+4]); c != red && c != blue {
			t.Fatalf("a color between red and blue: %v", c)
		}
	}
	if measured(t, d).Components != 1 {
		t.Error("the square broke where colors meet")
	}
}

func TestClusterHostile(t *testing.T) {
	for name, m := range hostile(100_000) {
		d := clusterTo(t, m, 10_000, 5000)
		if d.Triangles() == 0 && name != "line" {
			t.Errorf("%s: nothing is left", name)
		}
	}
}

// TestMemory checks the documented memory: five million triangles take less than 512 MiB in total.
func TestMemory(t *testing.T) {
	if !*large {
		t.Skip("takes half a minute; asked for by -large")
	}
	m := decoded.Sphere(t, 5_000_000)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := to(t, m, 200_000)
	runtime.ReadMemStats(&after)
	total := before.HeapAlloc + after.TotalAlloc - before.TotalAlloc
	t.Logf("%d MiB, had nothing been freed; the heap is %d MiB", total>>20, after.HeapSys>>20)
	if total > 512<<20 {
		t.Errorf("%d MiB, had nothing been freed", total>>20)
	}
	if most, turned := apart(m, d, rng(), 3000); most > 0.001*m.Box().Diagonal() || turned > 0.01 {
		t.Errorf("%v apart, %.2f %% turned over", most, 100*turned)
	}
}
