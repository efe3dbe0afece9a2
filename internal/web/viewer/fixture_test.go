//go:build browser

package viewer_test

import (
	"bytes"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/write/glb"
	"github.com/meshyard/meshyard/internal/mesh/write/threejs"
)

// sides are the corners of the sides of a box, with bits for x, y and z, and their colors.
var sides = [6]struct {
	corners [4]int
	color   [4]uint8
}{
	{[4]int{0, 1, 5, 4}, [4]uint8{255, 0, 0, 255}},
	{[4]int{1, 3, 7, 5}, [4]uint8{0, 255, 0, 255}},
	{[4]int{4, 5, 7, 6}, [4]uint8{0, 0, 255, 255}},
	{[4]int{2, 6, 7, 3}, [4]uint8{128, 128, 128, 255}},
	{[4]int{0, 4, 6, 2}, [4]uint8{128, 128, 128, 255}},
	{[4]int{0, 2, 3, 1}, [4]uint8{128, 128, 128, 255}},
}

// fixture is an L of two boxes, in centimeters with Z up, far from zero: a plate 4 × 2 × 1, and a
// post 1 × 2 × 3 on its left end, where x is smallest. The colors distinguish its sides: the
// front, where y is smallest, is red, the right green, the top blue, all others gray.
func fixture() *mesh.Mesh {
	m := &mesh.Mesh{Format: mesh.STL, Unit: 10, Origin: [3]float64{1e6, -2e6, 3e6}}
	for _, box := range [2][2][3]float32{{{0, 0, 0}, {4, 2, 1}}, {{0, 0, 1}, {1, 2, 4}}} {
		for _, side := range sides {
			for _, i := range [6]int{0, 1, 2, 0, 2, 3} {
				c := side.corners[i]
				m.Positions = append(m.Positions, box[c&1][0], box[c>>1&1][1], box[c>>2&1][2])
				m.Colors = append(m.Colors, side.color[:]...)
			}
		}
	}
	return m.Shaded(40)
}

// cube returns a gray cube of 20 mm with Y up. Each side has a texture of four fields: red and
// green above, blue and transparent below.
func cube() *mesh.Mesh {
	texture := &mesh.Texture{
		Image: mesh.NewImage(2, 2, []uint32{0xFF0000FF, 0xFF00FF00, 0xFFFF0000, 0}), WrapU: mesh.Clamp, WrapV: mesh.Clamp,
		Nearest: true,
		Alpha:   mesh.AlphaMask, Cutoff: 128,
	}
	const white = 0xFFFFFFFF
	m := &mesh.Mesh{Format: mesh.GLB, Unit: 1000, Up: mesh.UpY}
	for _, side := range sides {
		for _, corners := range [2][3]int{{0, 1, 2}, {0, 2, 3}} {
			p := mesh.Patch{Triangle: m.Triangles(), Texture: texture, Tint: [3]uint32{white, white, white}}
			for k, i := range corners {
				c := side.corners[i]
				m.Positions = append(m.Positions, .02*float32(c&1), .02*float32(c>>2&1), -.02*float32(c>>1&1))
				m.Colors = append(m.Colors, 128, 128, 128, 255)
				p.UV[k] = [4][2]float32{{0, 1}, {1, 1}, {1, 0}, {0, 0}}[i]
			}
			m.Patches = append(m.Patches, p)
		}
	}
	return m.Shaded(40)
}

// written holds the files that the server derived from the fixtures.
type written struct{ threejs, points, empty, glb, textured []byte }

func write(t *testing.T) written {
	t.Helper()
	var files [5]bytes.Buffer
	m := fixture()
	cloud, empty := *m, mesh.Mesh{Format: mesh.STL, Unit: 1}
	cloud.Cloud, cloud.Indices, cloud.Normals = true, nil, nil
	plain, err1 := glb.Write(&files[3], m, glb.Options{})
	textured, err2 := glb.Write(&files[4], cube(), glb.Options{})
	if plain || !textured {
		t.Fatalf("the GLB files of the fixture are textured: %v, %v, want false, true", plain, textured)
	}
	for i, err := range []error{
		threejs.Write(&files[0], m, threejs.Options{Triangles: m.Triangles()}),
		threejs.Write(&files[1], &cloud, threejs.Options{}),
		threejs.Write(&files[2], &empty, threejs.Options{}),
		err1,
		err2,
	} {
		if err != nil {
			t.Fatalf("write file %d of the fixture: %v", i, err)
		}
	}
	return written{files[0].Bytes(), files[1].Bytes(), files[2].Bytes(), files[3].Bytes(), files[4].Bytes()}
}
