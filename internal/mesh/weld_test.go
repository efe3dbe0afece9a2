package mesh

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWeldAny compares Weld with a map, for triangles that share corners with the one before and
// for triangles that do not, with and without colors.
func TestWeldAny(t *testing.T) {
	type key struct {
		at    [3]float32
		color uint32
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, places := range []int{2, 3, 20} {
		for _, colored := range []bool{false, true} {
			m := &Mesh{Format: STL, Unit: 1}
			for range 3 * 2000 {
				for range 3 {
					x := float32(rng.IntN(places))
					if x == 0 && rng.IntN(2) == 0 {
						x = float32(math.Copysign(0, -1))
					}
					m.Positions = append(m.Positions, x)
				}
				if colored {
					m.Colors = append(m.Colors, uint8(rng.IntN(2)), 0, 0, 255)
				}
			}
			w := m.Weld()
			known := make(map[key]uint32)
			for i, got := range w.Indices {
				k := key{m.At(uint32(i)), m.color(uint32(i))} // -0 and 0 are the same key
				want, ok := known[k]
				if !ok {
					want = uint32(len(known))
					known[k] = want
				}
				if got != want {
					t.Fatalf("%d places, colors %v: corner %d is vertex %d, want %d", places, colored, i, got, want)
				}
			}
			if w.Vertices() != len(known) {
				t.Errorf("%d places, colors %v: %d vertices, want %d", places, colored, w.Vertices(), len(known))
			}
		}
	}
}

// TestCrease checks that faces share a normal exactly if their unit vectors say so, also close to
// the crease angle and for lengths at the ends of single precision.
func TestCrease(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	doubtful := 0
	for range 200_000 {
		angle := []float64{0, 1, 40, 89.9999, 90, 100, 180}[rng.IntN(7)]
		c := newCrease(angle)
		// Two vectors at about the crease angle.
		sin, cos := math.Sincos((angle + math.Pow(10, -7*rng.Float64())*float64(rng.IntN(3)-1)) * math.Pi / 180)
		size := func() float64 { return math.Pow(10, float64(rng.IntN(50)-40)) }
		a, b := size(), size()
		lead, n := [3]float32{float32(a), 0, 0}, [3]float32{float32(cos * b), float32(sin * b), 0}
		if rng.IntN(20) == 0 {
			n = [3]float32{}
		}
		groups := []group{{lead: wide(&lead), square: squared(&lead)}}
		want := c.together(&n, &lead)
		if got := c.nearest(groups, &n) == 0; got != want {
			t.Fatalf("%v degrees: %v and %v share a normal: %v, want %v", angle, lead, n, got, want)
		}
		if math.Abs(float64(c.sharp)-cos) < 1e-6 {
			doubtful++
		}
	}
	if doubtful < 1000 {
		t.Errorf("only %d pairs are close to the crease angle", doubtful)
	}
}
