package decode

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// upOf guesses which axis points up in formats that do not say. What is made for printing stands on the plate, z = 0, and what is made for a scene on its floor,
// y = 0. Else it is z for PLY, as scanners write it, and y for OBJ and OFF, as in the programs that these come from.
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
