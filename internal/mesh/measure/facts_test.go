package measure

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
)

// box returns a box of 12 triangles in the layout of STL.
func box(x, y, z float32) *mesh.Mesh {
	m := &mesh.Mesh{Format: mesh.STL, Unit: 1}
	for _, q := range [6][4]int{{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}} {
		for _, i := range []int{q[0], q[1], q[2], q[0], q[2], q[3]} {
			m.Positions = append(m.Positions, x*float32(i&1), y*float32(i>>1&1), z*float32(i>>2&1))
		}
	}
	return m
}

// with returns the mesh with a moved copy of its triangles and further corners.
func with(m *mesh.Mesh, by [3]float32, corners ...float32) *mesh.Mesh {
	out := *m
	out.Positions = append([]float32(nil), m.Positions...)
	for i, x := range m.Positions {
		out.Positions = append(out.Positions, x+by[i%3])
	}
	out.Positions = append(out.Positions, corners...)
	return &out
}

func TestOf(t *testing.T) {
	inch := box(1, 2, 3)
	inch.Unit = 25.4
	far := box(1, 2, 3)
	far.Origin = [3]float64{1e14, -1e14, 5e13}
	open := box(1, 2, 3)
	open.Positions = open.Positions[9:]
	turned := box(1, 2, 3)
	for i := range 3 {
		turned.Positions[i], turned.Positions[3+i] = turned.Positions[3+i], turned.Positions[i]
	}
	inside := mirrored(box(1, 2, 3))
	colored := box(1, 2, 3)
	colored.Colors = make([]uint8, 4*36)
	for i := range 12 {
		colored.Colors[i] = 255
	}
	hollow := with(box(3, 3, 3), [3]float32{})
	// the second box is the middle one of 27, with its faces inward
	for i := range hollow.Positions[108:] {
		hollow.Positions[108+i] = hollow.Positions[108+i]/3 + 1
	}
	for i := 108; i < 216; i += 9 {
		for k := range 3 {
			hollow.Positions[i+k], hollow.Positions[i+3+k] = hollow.Positions[i+3+k], hollow.Positions[i+k]
		}
	}
	volume := func(v float64) *float64 { return &v }
	point := []float32{0, 0, 0, 0, 0, 0, 1, 2, 3}
	for _, c := range []struct {
		name                                        string
		mesh                                        *mesh.Mesh
		triangles, vertices, components             int
		area                                        float64
		volume                                      *float64
		watertight, manifold, shapeless, indexedToo bool
	}{
		{"box", box(1, 2, 3), 12, 8, 1, 22, volume(6), true, true, false, true},
		{"inches", inch, 12, 8, 1, 22 * 25.4 * 25.4, volume(6 * 25.4 * 25.4 * 25.4), true, true, false, true},
		{"far away", far, 12, 8, 1, 22, volume(6), true, true, false, true},
		{"open", open, 11, 8, 1, 21, nil, false, true, false, true},
		{"one face turned", turned, 12, 8, 1, 22, nil, true, true, false, true},
		{"inside out", inside, 12, 8, 1, 22, volume(6), true, true, false, true},
		{"colors that meet", colored, 12, 8, 1, 22, volume(6), true, true, false, true},
		{"two", with(box(1, 2, 3), [3]float32{5, 0, 0}), 24, 16, 2, 44, volume(12), true, true, false, true},
		{"two at an edge", with(box(1, 1, 1), [3]float32{1, 1, 0}), 24, 14, 1, 12, nil, false, false, false, true},
		{"two at a vertex", with(box(1, 1, 1), [3]float32{1, 1, 1}), 24, 15, 1, 12, volume(2), true, false, false, true},
		{"all twice", with(box(1, 1, 1), [3]float32{}), 24, 8, 1, 12, nil, false, false, false, true},
		{"with a cavity", hollow, 24, 16, 2, 60, volume(26), true, true, false, true},
		{"degenerate beside", with(box(1, 1, 1), [3]float32{5, 0, 0}, point...), 25, 17, 2, 12, volume(2), true, true,
			false, true},
		{"only degenerate", &mesh.Mesh{Unit: 1, Positions: point}, 1, 2, 0, 0, nil, false, false, true, true},
		{"a line", &mesh.Mesh{Unit: 1, Positions: []float32{0, 0, 0, 1, 0, 0, 2, 0, 0}}, 1, 3, 1, 0, nil, false, true,
			true, true},
		{"a triangle", &mesh.Mesh{Unit: 1, Positions: []float32{0, 0, 0, 1, 0, 0, 0, 1, 0}}, 1, 3, 1, 0.5, nil, false, true,
			false, true},
		{"nothing", &mesh.Mesh{Unit: 1}, 0, 0, 0, 0, nil, false, false, true, false},
		{"cloud", &mesh.Mesh{Unit: 1, Cloud: true, Positions: box(1, 2, 3).Positions}, 0, 36, 0, 0, nil, false, false, false,
			false},
		{"a point", &mesh.Mesh{Unit: 1, Cloud: true, Positions: []float32{1, 2, 3}}, 0, 1, 0, 0, nil, false, false, true,
			false},
	} {
		for _, m := range []*mesh.Mesh{c.mesh, c.mesh.Weld()} {
			if m.Indices != nil && !c.indexedToo {
				continue
			}
			f := of(t, m)
			if f.Triangles != c.triangles || f.Vertices != c.vertices || f.Components != c.components {
				t.Errorf("%s: %d triangles, %d vertices, %d components, want %d, %d, %d", c.name, f.Triangles, f.Vertices,
					f.Components,
					c.triangles, c.vertices, c.components)
			}
			if f.Watertight != c.watertight || f.Manifold != c.manifold {
				t.Errorf("%s: watertight %v, manifold %v, want %v, %v", c.name, f.Watertight, f.Manifold, c.watertight, c.manifold)
			}
			if math.Abs(f.Area-c.area) > 1e-6*c.area {
				t.Errorf("%s: area %v, want %v", c.name, f.Area, c.area)
			}
			switch {
			case (f.Volume == nil) != (c.volume == nil):
				t.Errorf("%s: volume is known: %v, want %v", c.name, f.Volume != nil, c.volume != nil)
			case f.Volume != nil && math.Abs(*f.Volume-*c.volume) > 1e-6**c.volume:
				t.Errorf("%s: volume %v, want %v", c.name, *f.Volume, *c.volume)
			}
			if (f.Fingerprint == "") != c.shapeless || (len(f.Keys) == 0) != c.shapeless {
				t.Errorf("%s: fingerprint %q, keys %q, want none: %v", c.name, f.Fingerprint, f.Keys, c.shapeless)
			}
			for i, x := range f.Descriptor {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("%s: number %d of the descriptor is %v", c.name, i, x)
				}
			}
		}
	}
	if f := of(t, inch); f.Size != [3]float64{25.4, 50.8, 3 * inch.Unit} || f.Box.Max != [3]float64{1, 2, 3} {
		t.Errorf("size %v, box %v", f.Size, f.Box)
	}
}

// hostile returns meshes of n triangles that break algorithms that assume few faces for each
// vertex.
func hostile(n int) map[string]*mesh.Mesh {
	hub, book, same, spike := &mesh.Mesh{Unit: 1}, &mesh.Mesh{Unit: 1}, &mesh.Mesh{Unit: 1}, &mesh.Mesh{Unit: 1}
	for i := range n {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		sin1, cos1 := math.Sincos(2 * math.Pi * float64((i+1)%n) / float64(n))
		hub.Positions = append(hub.Positions, 0, 0, 1, float32(cos), float32(sin), 0, float32(cos1), float32(sin1), 0)
		book.Positions = append(book.Positions, 0, 0, 0, 0, 0, 1, float32(cos), float32(sin), 0)
		same.Positions = append(same.Positions, 0, 0, 0, 0, 0, 1, 0, 1, 0)
		spike.Positions = append(spike.Positions, math.MaxFloat32, 0, float32(i), -math.MaxFloat32, 1, 0, float32(i),
			math.MaxFloat32, 1e-40)
	}
	return map[string]*mesh.Mesh{"hub": hub, "book": book, "same": same, "spike": spike}
}

func TestHostile(t *testing.T) {
	for name, m := range hostile(100_000) {
		f := of(t, m)
		if f.Components != 1 && name != "spike" {
			t.Errorf("%s has %d components, want 1", name, f.Components)
		}
		if math.IsNaN(f.Area) || math.IsInf(f.Area, 0) {
			t.Errorf("%s has the area %v", name, f.Area)
		}
		for i, x := range f.Descriptor {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("%s: number %d of the descriptor is %v", name, i, x)
			}
		}
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	last, calls := 0.0, 0
	_, err := Of(ctx, decoded.Sphere(t, 200_000), func(done float64) {
		if done < last || done > 1 {
			t.Errorf("progress went from %v to %v", last, done)
		}
		last = done
		if calls++; done > 0.55 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || last > 0.8 || calls < 3 {
		t.Errorf("canceled at 0.55 of the work, it went to %v in %d steps with %v", last, calls, err)
	}
}
