package decode

import (
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

func TestUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		format mesh.Format
		low    [3]float32
		want   mesh.Up
	}{
		{"on the plate", mesh.OBJ, [3]float32{-1, -1, 0}, mesh.UpZ},
		{"on the floor of a scene", mesh.PLY, [3]float32{-1, 0, -1}, mesh.UpY},
		{"on both, as CAD programs write", mesh.OFF, [3]float32{0, 0, 0}, mesh.UpZ},
		{"on neither", mesh.OBJ, [3]float32{-1, -1, -1}, mesh.UpY},
		{"a scan on neither", mesh.PLY, [3]float32{-1, -1, -1}, mesh.UpZ},
		{"nearly on the plate", mesh.OFF, [3]float32{-1, -1, 1e-4}, mesh.UpZ},
	} {
		m := &mesh.Mesh{Format: c.format, Positions: []float32{c.low[0], c.low[1], c.low[2], 1, 2, 3, 0.5, 1, 2}}
		if got := guessUp(m); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
