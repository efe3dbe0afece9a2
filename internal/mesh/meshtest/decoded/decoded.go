// Package decoded provides decoded meshes for tests. It is not part of package meshtest, which the
// tests of package decode import.
package decoded

import (
	"bytes"
	"errors"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
)

// File decodes a file.
func File(t testing.TB, name string, file []byte) (*mesh.Mesh, error) {
	t.Helper()
	src := decode.Source{ReaderAt: bytes.NewReader(file), Size: int64(len(file)), Name: name}
	return decode.Decode(t.Context(), src, mesh.DefaultLimits, nil)
}

// Meshes returns the meshes of the test data by file name.
func Meshes(t testing.TB) map[string]*mesh.Mesh {
	t.Helper()
	meshes := make(map[string]*mesh.Mesh)
	for _, row := range meshtest.Meshes(t) {
		if row.Kind != "mesh" {
			continue
		}
		m, err := File(t, row.Name, row.Bytes(t))
		if e := new(mesh.Error); errors.As(err, &e) { // the decoders have their own tests
			continue
		} else if err != nil {
			t.Fatalf("%s: %v", row.Name, err)
		}
		meshes[row.Name] = m
	}
	if len(meshes) < 3 {
		t.Fatalf("%d meshes found", len(meshes))
	}
	return meshes
}

// Sphere returns a closed bumpy sphere of about n triangles, about 50 units wide, without indices.
func Sphere(t testing.TB, n int) *mesh.Mesh {
	t.Helper()
	m, err := File(t, "sphere.stl", meshtest.SphereSTL(n))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
