package geometry

import (
	"errors"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// TestShapeOutput checks that the search for a color is bounded when one vertex has many.
func TestShapeOutput(t *testing.T) {
	s := &Shape{Vertices: make([]float64, 6)}
	s.Output(0, NoColor)
	for i := range uint32(100) {
		if got := s.Output(1, i); got != i+1 {
			t.Fatalf("color %d is at place %d", i, got)
		}
	}
	if s.Output(1, 99) != 100 || s.Output(1, 100-maxColorSearch) != 101-maxColorSearch {
		t.Error("a new color has not its place")
	}
	if s.Output(1, 0) != 101 || s.Output(0, NoColor) != 0 || !slices.Equal(s.Sources[:3], []uint32{0, 1, 1}) {
		t.Error("an old color has not a new place")
	}
}

// TestAssemblePatches checks that the triangles of patches are counted over all shapes, and that a
// mesh has a limited number of patches.
func TestAssemblePatches(t *testing.T) {
	s := &Shape{Vertices: make([]float64, 3), Sources: make([]uint32, 1), Corners: make([]uint32, 6),
		Patches: make([]mesh.Patch, mesh.MaxPatches/2+1)}
	for i := range s.Patches {
		s.Patches[i].Triangle = 1
	}
	m := &mesh.Mesh{}
	err := Assemble(t.Context(), "test", m, 4, 2, func(visit func(*Shape, Transform) error) error {
		return errors.Join(visit(s, Identity), visit(s, Identity))
	})
	if err != nil || len(m.Patches) != mesh.MaxPatches || cap(m.Patches) != mesh.MaxPatches {
		t.Fatalf("got %d patches, room for %d, %v, want %d", len(m.Patches), cap(m.Patches), err, mesh.MaxPatches)
	}
	if first, last := m.Patches[0].Triangle, m.Patches[mesh.MaxPatches-1].Triangle; first != 1 || last != 3 {
		t.Errorf("got patches of triangles %d to %d, want 1 to 3", first, last)
	}
}
