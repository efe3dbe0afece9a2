package geometry

import (
	"slices"
	"testing"
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
