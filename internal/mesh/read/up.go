package read

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// upOf guesses which axis points up in formats that do not say. What is made for printing stands on the plate, z = 0. Else y points up, as in the programs that OBJ, OFF
// and PLY come from.
func upOf(m *mesh.Mesh) mesh.Up {
	box := m.Box()
	stands := func(axis int) bool { return math.Abs(box.Min[axis]) <= 1e-3*box.Diagonal() }
	if stands(2) && !stands(1) {
		return mesh.UpZ
	}
	return mesh.UpY
}
