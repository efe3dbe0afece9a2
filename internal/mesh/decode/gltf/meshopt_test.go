package gltf

import (
	"math"
	"os"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

// meshoptFile returns a glTF file whose only buffer view is 8 bytes of compressed zeros. extension
// are the members of the extension besides the section of the buffer.
func meshoptFile(extension string) []byte {
	return gltfOf(oneNode, oneMesh, `"accessors":[`+floats3+`]`, `"bufferViews":[{"buffer":0,"byteLength":36,"extensions":{"EXT_meshopt_compression":{"buffer":0,"byteLength":8,`+
		extension+`}}}],"buffers":[{"byteLength":8,"uri":"data:;base64,AAAAAAAAAAA="}]`)
}

// TestGLTFMeshopt decodes a file of another program. Package meshopt tests the modes and filters.
func TestGLTFMeshopt(t *testing.T) {
	if m := decodeBox(t, "gltftransform_BoxMeshopt.glb"); m.Triangles() != 12 {
		t.Errorf("got %d triangles", m.Triangles())
	}
}

// decodeBox decodes a file of testdata, and checks that its mesh is a cube of size 1 around the
// origin.
func decodeBox(t *testing.T, name string) *mesh.Mesh {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := decodetest.Decode(t, Decode, b)
	if err != nil {
		t.Fatal(err)
	}
	box := m.Box()
	for k := range 3 {
		if math.Abs(box.Min[k]+0.5) > 1e-4 || math.Abs(box.Max[k]-0.5) > 1e-4 {
			t.Fatalf("got the box %v", box)
		}
	}
	return m
}
