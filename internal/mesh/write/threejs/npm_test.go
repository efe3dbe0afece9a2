//go:build npm

package threejs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
	"github.com/meshyard/meshyard/internal/mesh/write/glb"
	"github.com/meshyard/meshyard/internal/mesh/write/threejs"
)

// TestPrograms loads what is written for each model of the test data in three.js; see
// testdata/check.mjs.
func TestPrograms(t *testing.T) {
	type model struct {
		Name      string     `json:"name"`
		File      string     `json:"file"`
		Triangles int        `json:"triangles"`
		Points    int        `json:"points"`
		Min       [3]float64 `json:"min"`
		Max       [3]float64 `json:"max"`
		GLBMin    [3]float64 `json:"glbMin"`
		GLBMax    [3]float64 `json:"glbMax"`
		Textured  bool       `json:"textured"`
	}
	var models []model
	dir := t.TempDir()
	for i, r := range meshtest.Meshes(t) {
		if r.Kind != "mesh" {
			continue
		}
		m, err := decoded.File(t, r.Name, r.Bytes(t))
		var told *mesh.Error
		if errors.As(err, &told) && (told.Reason == mesh.Empty || told.Reason == mesh.Unsupported) {
			t.Logf("%s: %v", r.Name, err)
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		one := model{Name: r.Name, File: strconv.Itoa(i), Triangles: r.Triangles, Min: r.Box.Min, Max: r.Box.Max}
		if m.Cloud {
			one.Points = m.Vertices()
		}
		one.GLBMin, one.GLBMax = meters(m, r.Box)
		models = append(models, one)
		shaded := m.Shaded(mesh.CreaseAngle)
		save(t, filepath.Join(dir, one.File+".json"), func(w *bytes.Buffer) error {
			return threejs.Write(w, shaded, threejs.Options{Triangles: r.Triangles})
		})
		saveGLB(t, filepath.Join(dir, one.File+".glb"), shaded, glb.Options{})
		saveGLB(t, filepath.Join(dir, one.File+".exact.glb"), shaded, glb.Options{Exact: true})
	}
	for _, exact := range []bool{false, true} {
		one := model{Name: fmt.Sprintf("textures, exact: %v", exact), File: fmt.Sprintf("textures-%v", exact), Textured: true}
		saveGLB(t, filepath.Join(dir, one.File+".glb"), textured().Shaded(mesh.CreaseAngle), glb.Options{Exact: exact})
		models = append(models, one)
	}
	save(t, filepath.Join(dir, "models.json"), func(w *bytes.Buffer) error { return json.NewEncoder(w).Encode(models) })
	out, err := exec.Command("node", "testdata/check.mjs", dir).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// textured returns a mesh with textures of each kind, whose images become PNG and JPEG, and a
// triangle without one.
func textured() *mesh.Mesh {
	drawing, photo := mesh.NewImage(4, 1, []uint32{0, 0x80FF0000, 0xFF00FF00, 0xFFFFFFFF}), make([]uint32, 128*128)
	for i := range photo {
		photo[i] = uint32(i%128) | uint32(i*i%251)<<8 | 255<<24
	}
	image := mesh.NewImage(128, 128, photo)
	m := &mesh.Mesh{Unit: 1, Positions: []float32{0, 0, 0, 1, 0, 0, 0, 1, 0}, Colors: []uint8{255, 0, 0, 128, 0, 0, 0, 255,
		1, 2, 3, 4}}
	for i, texture := range []mesh.Texture{
		{Image: image}, {Image: image, WrapU: mesh.Mirror, WrapV: mesh.Clamp}, {Image: drawing, Alpha: mesh.AlphaMask,
			Cutoff: 100},
		{Image: drawing, Alpha: mesh.AlphaBlend, Nearest: true},
	} {
		m.Patches = append(m.Patches, mesh.Patch{
			Triangle: i + 1, Texture: &texture, UV: [3][2]float32{{0, 0}, {-1e9, 7}, {1, float32(math.NaN())}},
			Tint: [3]uint32{0xFFFFFFFF, 0, 0x80402010},
		})
		m.Positions = append(m.Positions, 0, 0, float32(i+1), 1, 0, 0, 0, 1, 0)
		m.Colors = append(m.Colors, m.Colors[:12]...)
	}
	return m
}

// meters returns a box in the coordinates of GLB.
func meters(m *mesh.Mesh, box mesh.Box) (lo, hi [3]float64) {
	for i := range lo {
		lo[i], hi[i] = box.Min[i]*m.Unit/1000, box.Max[i]*m.Unit/1000
	}
	if m.Up == mesh.UpZ {
		lo, hi = [3]float64{lo[0], lo[2], -hi[1]}, [3]float64{hi[0], hi[2], -lo[1]}
	}
	return lo, hi
}

func saveGLB(t *testing.T, name string, m *mesh.Mesh, o glb.Options) {
	t.Helper()
	save(t, name, func(w *bytes.Buffer) error {
		_, err := glb.Write(w, m, o)
		return err
	})
}

func save(t *testing.T, name string, write func(*bytes.Buffer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
