package gltf

import (
	"encoding/base64"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

// meshoptFile returns a glTF file whose only buffer view is 8 bytes of compressed zeros. extension
// are the members of the extension besides the section of the buffer.
func meshoptFile(extension string) []byte {
	return gltfOf(oneNode, oneMesh, `"accessors":[`+floats3+`]`,
		`"bufferViews":[{"buffer":0,"byteLength":36,"extensions":{"EXT_meshopt_compression":{"buffer":0,"byteLength":8,`+
			extension+`}}}],"buffers":[{"byteLength":8,"uri":"data:;base64,AAAAAAAAAAA="}]`)
}

// TestGLTFMeshopt decodes files of other programs, one with each extension. Package meshopt tests
// the modes and filters.
func TestGLTFMeshopt(t *testing.T) {
	for _, name := range []string{"gltftransform_BoxMeshopt.glb", "gltfpack_BoxMeshoptKHR.glb"} {
		if m := decodeBox(t, name); m.Triangles() != 12 {
			t.Errorf("%s: got %d triangles", name, m.Triangles())
		}
	}
}

// TestGLTFMeshoptLimit checks that all buffer views of a file share the limit of bytes.
func TestGLTFMeshoptLimit(t *testing.T) {
	const count = 234 * 256
	packed := make([]byte, 1+count/256*12*4+32) // zeros
	packed[0] = 0xA0
	view := fmt.Sprintf(
		`{"buffer":0,"byteLength":%d,"extensions":{"EXT_meshopt_compression":{"buffer":0,"byteLength":%d,"byteStride":12,"count":%d,"mode":"ATTRIBUTES"}}}`,
		12*count, len(packed), count)
	limits := mesh.DefaultLimits
	limits.Inflated = 3 * 12 * count / 2
	for _, views := range []int{1, 2} {
		file := gltfOf(oneNode,
			fmt.Sprintf(`"meshes":[{"primitives":[{"attributes":{"POSITION":0}},{"attributes":{"POSITION":%d}}]}]`, views-1),
			fmt.Sprintf(`"accessors":[{"bufferView":0,"componentType":5126,"count":%[1]d,"type":"VEC3"},{"bufferView":1,"componentType":5126,"count":%[1]d,"type":"VEC3"}]`, count),
			`"bufferViews":[`+view+`,`+view+`]`,
			fmt.Sprintf(`"buffers":[{"byteLength":%d,"uri":"data:;base64,%s"}]`, len(packed),
				base64.StdEncoding.EncodeToString(packed)))
		m, err := decodetest.DecodeFile(t, mesh.GLTF, Decode, file, limits)
		switch {
		case views == 2:
			decodetest.CheckError(t, err, mesh.TooLarge, "decompresses to too many bytes in buffer view 1")
		case err != nil || m.Triangles() != 2*count/3:
			t.Errorf("got %v, %v, want %d triangles", m, err, 2*count/3)
		}
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
