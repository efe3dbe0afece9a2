package threejs_test

import (
	"io"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
	"github.com/meshyard/meshyard/internal/mesh/write/threejs"
)

// BenchmarkWrite writes a million triangles. "make bench-threejs" compares the whole conversion
// with three.js.
func BenchmarkWrite(b *testing.B) {
	m := decoded.Sphere(b, 1_000_000).Shaded(mesh.CreaseAngle)
	b.ReportAllocs()
	for b.Loop() {
		if err := threejs.Write(io.Discard, m, threejs.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkShaded computes the normals of a million triangles of an STL file.
func BenchmarkShaded(b *testing.B) {
	m := decoded.Sphere(b, 1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		m.Shaded(mesh.CreaseAngle)
	}
}

// BenchmarkWeld welds a million triangles.
func BenchmarkWeld(b *testing.B) {
	m := decoded.Sphere(b, 1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		m.Weld()
	}
}
