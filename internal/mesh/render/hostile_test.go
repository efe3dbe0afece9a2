package render

import (
	"errors"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// stack returns n squares on top of each other, each of which fills the image.
func stack(n int) *mesh.Mesh {
	m := &mesh.Mesh{Format: mesh.STL, Unit: 1}
	for i := range n {
		z := float32(i) / float32(n)
		m.Positions = append(m.Positions, 0, 0, z, 1, 0, z, 1, 1, z, 0, 0, z, 1, 1, z, 0, 1, z)
	}
	return m
}

// TestFillIsBounded draws meshes whose faces overlap. It checks that the number of filled samples
// is limited: a mesh that fills too many is rejected, and one that is merely complex is drawn.
func TestFillIsBounded(t *testing.T) {
	const width, height = 2400, 1800
	for _, c := range []struct {
		name    string
		mesh    *mesh.Mesh
		refused bool
	}{
		{"20 layers", stack(20), false},
		{"2,000 layers", stack(2000), true},
		{"many slivers", sliver(2_000_000), true},
		{"points", func() *mesh.Mesh { m := stack(20_000); m.Cloud = true; return m }(), false},
		{"a thread of slivers", sliver(20_000), false},
	} {
		cam := look(c.mesh, width, height)
		r := newRaster(width, height, false)
		err := r.draw(t.Context(), c.mesh, cam, newGround(cam), func(float64) {})
		var bad *mesh.Error
		if refused := errors.As(err, &bad); refused != c.refused || refused && bad.Reason != mesh.TooLarge || err != nil &&
			!refused {
			t.Errorf("%s: got %v, want refused %v", c.name, err, c.refused)
		}
		if one := int64(8 * width * height); r.budget < -one || !c.refused && r.budget == maxFill {
			t.Errorf("%s: %d samples of %d are left, want at most one triangle too many", c.name, r.budget, maxFill)
		}
	}
}

// sliver returns n triangles without area along one line, which are drawn as strokes.
func sliver(n int) *mesh.Mesh {
	m := &mesh.Mesh{Format: mesh.STL, Unit: 1}
	for i := range n {
		x := float32(i%7) / 7
		m.Positions = append(m.Positions, x, 0, 0, 1, 0, 0, 1-x, 0, 0)
	}
	return m
}
