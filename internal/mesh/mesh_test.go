package mesh

import (
	"math"
	"testing"
)

// box returns a box of 12 triangles in the layout of STL: 36 vertices.
func box() *Mesh {
	corner := func(i int) [3]float32 { return [3]float32{float32(i & 1), float32(i >> 1 & 1), float32(i >> 2 & 1)} }
	m := &Mesh{Format: STL, Unit: 1}
	for _, q := range [6][4]int{{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}} {
		for _, i := range []int{q[0], q[1], q[2], q[0], q[2], q[3]} {
			p := corner(i)
			m.Positions = append(m.Positions, p[:]...)
		}
	}
	return m
}

func TestWeld(t *testing.T) {
	m := box()
	w := m.Weld()
	if w.Vertices() != 8 || w.Triangles() != 12 || m.Vertices() != 36 {
		t.Fatalf("a box is welded to %d vertices and %d triangles, want 8 and 12", w.Vertices(), w.Triangles())
	}
	for i := range 12 {
		a, b, c := m.Corners(i)
		x, y, z := w.Corners(i)
		if m.At(a) != w.At(x) || m.At(b) != w.At(y) || m.At(c) != w.At(z) {
			t.Errorf("triangle %d is another one after welding", i)
		}
	}
	m.Positions[0] = float32(math.Copysign(0, -1))
	if n := m.Weld().Vertices(); n != 8 {
		t.Errorf("with -0 for 0 there are %d vertices, want 8", n)
	}
	m.Colors = make([]uint8, 4*36)
	m.Colors[0] = 255
	if n := m.Weld().Vertices(); n != 9 {
		t.Errorf("with one corner in another color there are %d vertices, want 9", n)
	}
}

func TestBox(t *testing.T) {
	m := box()
	m.Origin = [3]float64{1e6, 0, -1}
	want := Box{[3]float64{1e6, 0, -1}, [3]float64{1e6 + 1, 1, 0}}
	if got := m.Box(); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := (&Mesh{}).Box(); got != (Box{}) {
		t.Errorf("of nothing: %v", got)
	}
}

func TestEncoded(t *testing.T) {
	for i, light := range Linear {
		if got := math.Round(255 * Encoded(light)); got != float64(i) {
			t.Errorf("%d is %v in light, and that is %v", i, light, got)
		}
	}
	if a, b, c := Encoded(-1), Encoded(2), Encoded(math.NaN()); a != 0 || b != 1 || c != 1 {
		t.Errorf("-1, 2 and NaN are %v, %v and %v, want 0, 1 and 1", a, b, c)
	}
}
