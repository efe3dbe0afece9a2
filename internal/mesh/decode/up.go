package decode

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// guessUp guesses the up axis for formats that do not define it. Models for printing stand on the
// build plate, z = 0; models for scenes stand on the floor, y = 0. One that stands on both is for
// printing: CAD programs place the corner of a part at zero. If it stands on neither, the axis is z
// for PLY, which scanners write, and y for OBJ and OFF, which modeling programs write.
func guessUp(m *mesh.Mesh) mesh.Up {
	box := m.Box()
	stands := func(axis int) bool { return math.Abs(box.Min[axis]) <= 1e-3*box.Diagonal() }
	if stands(2) || m.Format == mesh.PLY && !stands(1) {
		return mesh.UpZ
	}
	return mesh.UpY
}
