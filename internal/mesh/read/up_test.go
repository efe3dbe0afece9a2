package read

import (
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

func TestUp(t *testing.T) {
	for _, c := range []struct {
		name string
		low  [3]float32
		want mesh.Up
	}{
		{"on the plate", [3]float32{-1, -1, 0}, mesh.UpZ},
		{"on the floor of a scene", [3]float32{-1, 0, -1}, mesh.UpY},
		{"on both", [3]float32{0, 0, 0}, mesh.UpY},
		{"on neither", [3]float32{-1, -1, -1}, mesh.UpY},
		{"nearly on the plate", [3]float32{-1, -1, 1e-4}, mesh.UpZ},
	} {
		m := &mesh.Mesh{Positions: []float32{c.low[0], c.low[1], c.low[2], 1, 2, 3, 0.5, 1, 2}}
		if got := upOf(m); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
