package decode

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

func TestMalformed(t *testing.T) {
	dir := filepath.Join(decodetest.DataFolder(t), "malformed")
	for _, c := range []struct {
		file    string
		reason  mesh.Reason // "" if the file must decode
		message string
	}{
		{"tinyobj_invalid-relative-vertex-index.obj", mesh.Malformed,
			`Line 1 of the OBJ file has a face with vertex "-4", where 0 `},
		{"tinyobj_issue-140-zero-face-idx.obj", mesh.Malformed, `Line 16 of the OBJ file has a face with vertex "0"`},
		{"assimp_malformed.obj", mesh.Malformed, `Line 28 of the OBJ file has a face with vertex "0"`},
		{"trimesh_nancolor.obj", "", ""},
		{"obj_index_overflow.obj", mesh.Malformed, `vertex "99999999999999999999"`},
		{"obj_mtllib_traversal.obj", "", ""},
		{"3mf_zip_bomb_256MiB.3mf", mesh.TooLarge, "times its size"},
		{"3mf_path_traversal.3mf", mesh.Malformed, "leads out"},
		{"3mf_component_cycle.3mf", mesh.Malformed, "contains itself"},
		{"3mf_component_exponential_2e40.3mf", mesh.TooLarge, "shows too many triangles: at most 10000000 are supported"},
		{"3mf_entity_bomb.3mf", mesh.Malformed, "DOCTYPE"},
		{"3mf_external_entity.3mf", mesh.Malformed, "DOCTYPE"},
		{"3mf_index_out_of_range.3mf", mesh.Malformed, "vertex v3=4294967295, where the mesh has 8 vertices"},
	} {
		t.Run(c.file, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m, err := readNamed(t, c.file, b, mesh.DefaultLimits)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
				t.Errorf("it allocated %d bytes", got)
			}
			if c.reason != "" {
				t.Log(err)
				decodetest.CheckError(t, err, c.reason, c.message)
			} else if err != nil || m.Triangles() != 12 {
				t.Errorf("got %v and the error %v, want 12 triangles", m, err)
			}
		})
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b, err := os.ReadFile("../../../testdata/meshes/3mfsamples_box.3mf")
	if err != nil {
		t.Fatal(err)
	}
	for format, text := range map[string][]byte{"obj": []byte("v 0 0 0\n"), "3mf": b, "amf": []byte("<amf/>")} {
		_, err := decoders[mesh.Format(format)](ctx, decodetest.Source(text), mesh.DefaultLimits, nil)
		if err != context.Canceled {
			t.Errorf("%s: got the error %v, want that of the context", format, err)
		}
	}
}
