package render

import (
	"math"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// TestBacks checks that the nearest triangle is drawn at each sample, whichever way it faces. The
// front of a mesh is the back of one whose triangles are turned over.
func TestBacks(t *testing.T) {
	open := ball(3000, 2)
	open.Positions = slices.DeleteFunc(open.Positions, func() func(float32) bool {
		i := -1
		return func(float32) bool { i++; return i/9%5 == 0 } // every fifth triangle
	}())
	for name, m := range map[string]*mesh.Mesh{"closed": ball(3000, 2), "with holes": open} {
		m = m.Shaded(mesh.CreaseAngle)
		over := *m
		over.Indices = slices.Clone(m.Indices)
		for i := 0; i < len(over.Indices); i += 3 {
			over.Indices[i], over.Indices[i+1] = over.Indices[i+1], over.Indices[i]
		}
		_, front := draw(t, m, 256, 256)
		_, back := draw(t, &over, 256, 256)
		shown := 0
		for i, near := range front.near {
			if math.Abs(float64(near-back.near[i])) > 1e-5 {
				t.Fatalf("%s: sample %d is at %v, and at %v if all triangles are turned over", name, i, near, back.near[i])
			}
			if near > 0 {
				shown++
			}
		}
		if shown < len(front.near)/3 {
			t.Errorf("%s: only %d samples are covered", name, shown)
		}
	}
}

// TestHiddenBacks checks that most triangles on the far side of a closed mesh are found to be
// hidden.
func TestHiddenBacks(t *testing.T) {
	m := ball(20_000, 0.3).Shaded(mesh.CreaseAngle)
	c := look(m, 1024, 1024)
	g := newGround(c)
	r := newRaster(1024, 1024, false)
	if err := r.triangles(t.Context(), m, c, g, func(float64) {}); err != nil {
		t.Fatal(err)
	}
	f := newFace(m, c, g)
	var backs []back
	for i := range m.Triangles() {
		if f.load(i); f.back() {
			backs = r.later(backs, f, i)
		}
	}
	far, found := r.farthest(1024/tile), 0
	for i := range backs {
		if hidden, _ := backs[i].hidden(far, 1024/tile); hidden {
			found++
		}
	}
	if len(backs) < m.Triangles()/3 || found < len(backs)*3/4 {
		t.Errorf("%d of %d triangles face away and %d of them are hidden, want about half, and most of them", len(backs),
			m.Triangles(), found)
	}
}
