package decode

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// guessUp guesses the up axis for formats that do not define it. Models for printing stand on the
// build plate, z = 0; models for scenes stand on the floor, y = 0. If the bounding box does not
// decide, the axis is z for PLY, which scanners write, and y for OBJ and OFF, which modeling
// programs write.
func guessUp(m *mesh.Mesh) mesh.Up {
	box := m.Box()
	stands := func(axis int) bool { return math.Abs(box.Min[axis]) <= 1e-3*box.Diagonal() }
	if stands(1) == stands(2) {
		if m.Format == mesh.PLY {
			return mesh.UpZ
		}
		return mesh.UpY
	}
	if stands(2) {
		return mesh.UpZ
	}
	return mesh.UpY
}
