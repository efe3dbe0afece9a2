package decimate

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

var vertexLine = regexp.MustCompile(`(?m)^\s*vertex\s+(\S+)\s+(\S+)\s+(\S+)`)

// readSTL reads what the tests need.
func readSTL(t testing.TB, path string) *mesh.Mesh {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := &mesh.Mesh{Format: mesh.STL, Unit: 1}
	if len(raw) >= 84 && int(binary.LittleEndian.Uint32(raw[80:])) == (len(raw)-84)/50 {
		for at := 84; at+50 <= len(raw); at += 50 {
			for i := range 9 {
				m.Positions = append(m.Positions, math.Float32frombits(binary.LittleEndian.Uint32(raw[at+12+4*i:])))
			}
		}
		return m
	}
	for _, line := range vertexLine.FindAllSubmatch(bytes.ToLower(raw), -1) {
		for _, s := range line[1:] {
			x, err := strconv.ParseFloat(string(s), 32)
			if err != nil {
				t.Fatal(err)
			}
			m.Positions = append(m.Positions, float32(x))
		}
	}
	return m
}

// realSTL gives the real meshes by name.
func realSTL(t testing.TB) map[string]*mesh.Mesh {
	folder := os.Getenv("MESHYARD_TEST_DATA")
	if folder == "" {
		folder = "../../../../shared/data"
	}
	paths, _ := filepath.Glob(filepath.Join(folder, "meshes/stl/*"))
	if len(paths) == 0 {
		paths, _ = filepath.Glob("../../../testdata/meshes/[hn]*.stl")
	}
	meshes := make(map[string]*mesh.Mesh)
	for _, p := range paths {
		if m := readSTL(t, p); m.Triangles() > 0 {
			meshes[filepath.Base(p)] = m
		}
	}
	if len(meshes) < 3 {
		t.Fatalf("%d meshes found", len(meshes))
	}
	return meshes
}
