package threejs_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/mesh/write/threejs"
)

func sphere(t testing.TB, triangles int) *mesh.Mesh {
	t.Helper()
	b := meshtest.SphereSTL(triangles)
	m, err := decode.Decode(context.Background(), decode.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: "a.stl"}, mesh.DefaultLimits, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// BenchmarkWrite writes a million triangles. "make bench-threejs" compares the whole conversion
// with three.js.
func BenchmarkWrite(b *testing.B) {
	m := sphere(b, 1_000_000).Shaded(mesh.CreaseAngle)
	b.ReportAllocs()
	for b.Loop() {
		if err := threejs.Write(io.Discard, m, threejs.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkShaded computes the normals of a million triangles of an STL file.
func BenchmarkShaded(b *testing.B) {
	m := sphere(b, 1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		m.Shaded(mesh.CreaseAngle)
	}
}

// BenchmarkWeld welds a million triangles.
func BenchmarkWeld(b *testing.B) {
	m := sphere(b, 1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		m.Weld()
	}
}
