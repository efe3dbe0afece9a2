package render

import (
	"math"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// TestFit checks that the margins are exact: no vertex that is used is in them, and one touches
// them. The meshes have many runs of vertices, of which fit skips most.
func TestFit(t *testing.T) {
	stray := ball(20_000, 2).Weld()
	stray.Positions = append(stray.Positions, 1e6, 1e6, 1e6)
	for name, m := range map[string]*mesh.Mesh{"STL": ball(20_000, 2), "indexed": ball(20_000, 2).Weld(),
		"unused vertex": stray} {
		c := look(m, 1000, 600)
		lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
		for i := range m.Triangles() {
			x, y, z := m.Corners(i)
			for _, v := range []uint32{x, y, z} {
				p := m.At(v)
				px, py, pz := float64(p[0]), float64(p[1]), float64(p[2])
				w := c.away.of(px, py, pz) * subsample
				lowX, highX = min(lowX, c.across.of(px, py, pz)/w+c.shiftX), max(highX, c.across.of(px, py, pz)/w+c.shiftX)
				lowY, highY = min(lowY, c.down.of(px, py, pz)/w+c.shiftY), max(highY, c.down.of(px, py, pz)/w+c.shiftY)
			}
		}
		if lowX < 70-1e-6 || highX > 930+1e-6 || math.Abs(lowY-42) > 1e-6 || math.Abs(highY-558) > 1e-6 {
			t.Errorf("%s: the mesh is in %v to %v, %v to %v, want 42 to 558 in height and within 70 to 930", name, lowX, highX,
				lowY, highY)
		}
	}
}
