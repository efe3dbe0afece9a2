package mesh

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestShaded(t *testing.T) {
	for _, c := range []struct {
		angle    float64
		vertices int
	}{{40, 24}, {100, 8}} {
		s := box().Shaded(c.angle)
		if s.Vertices() != c.vertices || s.Triangles() != 12 {
			t.Errorf("with %v degrees: %d vertices, %d triangles, want %d and 12", c.angle, s.Vertices(), s.Triangles(),
				c.vertices)
		}
		for v := range uint32(s.Vertices()) {
			n, p := [3]float32(s.Normals[3*v:3*v+3]), s.At(v)
			if l := dot(n, n); math.Abs(float64(l)-1) > 1e-6 {
				t.Errorf("normal %v of length %v", n, l)
			}
			if dot(n, [3]float32{p[0] - 0.5, p[1] - 0.5, p[2] - 0.5}) <= 0 {
				t.Errorf("with %v degrees the normal %v at %v points inwards", c.angle, n, p)
			}
		}
	}
}

// TestShadedAny compares the normals with those of the definition, for meshes whose vertices have
// smooth, sharp and degenerate faces, and some unused vertices.
func TestShadedAny(t *testing.T) {
	type shared struct{ lead, sum [3]float32 }
	rng := rand.New(rand.NewPCG(1, 2))
	several := 0
	for _, flat := range []float32{0, 0.3, 1} { // the height of a rough surface; 0: faces up or down
		m := &Mesh{Format: OBJ, Unit: 1}
		for i := range 400 {
			m.Positions = append(m.Positions, float32(i%20), float32(i/20), flat*rng.Float32())
		}
		for range 1200 {
			v := rng.IntN(380) // the last row has fewer faces, and a last vertex without any
			m.Indices = append(m.Indices, uint32(v), uint32(v+rng.IntN(2)), uint32(v+19))
		}
		for _, of := range []*Mesh{m, {Format: STL, Unit: 1, Positions: loose(m)}} {
			got := of.Shaded(CreaseAngle)
			sharp := newCrease(CreaseAngle)
			at := make(map[[3]float32][]*shared)
			corner := make([]*shared, 3*of.Triangles())
			for i := range corner {
				a, b, c := of.Corners(i / 3)
				face := cross(of.At(a), of.At(b), of.At(c))
				p := of.At([]uint32{a, b, c}[i%3])
				for _, n := range at[p] {
					if n.lead == [3]float32{} && face != [3]float32{} {
						n.lead = face // so far, all were degenerate
					}
					if face == [3]float32{} || sharp.together(&face, &n.lead) {
						corner[i] = n
						break
					}
				}
				if corner[i] == nil {
					corner[i] = &shared{lead: face}
					at[p] = append(at[p], corner[i])
				}
				for k := range face {
					corner[i].sum[k] += face[k]
				}
			}
			want := 0
			for _, normals := range at {
				want += len(normals)
				several += len(normals) - 1
			}
			if got.Vertices() != want || len(got.Normals) != 3*want {
				t.Errorf("height %v: %d vertices and %d coordinates of normals, want %d vertices", flat, got.Vertices(),
					len(got.Normals), want)
			}
			for i, n := range corner {
				v := got.Indices[i]
				x, y, z := unit(&n.sum)
				normal := [3]float32{x, y, z}
				if normal == [3]float32{} {
					normal[2] = 1
				}
				a, b, c := of.Corners(i / 3)
				if has := [3]float32(got.Normals[3*v:]); got.At(v) != of.At([]uint32{a, b, c}[i%3]) || dot(has, normal) < 0.999999 {
					t.Fatalf("height %v, corner %d: the normal %v at %v, want %v", flat, i, has, got.At(v), normal)
				}
			}
		}
	}
	if several < 100 {
		t.Errorf("only %d vertices have several normals", several)
	}
}

// loose returns the positions of the corners of a mesh, as in an STL file.
func loose(m *Mesh) (positions []float32) {
	for _, v := range m.Indices {
		p := m.At(v)
		positions = append(positions, p[:]...)
	}
	return positions
}

// cross returns the cross product of two edges of a triangle.
func cross(a, b, c [3]float32) [3]float32 {
	var u, v [3]float32
	for k := range u {
		u[k], v[k] = b[k]-a[k], c[k]-a[k]
	}
	return [3]float32{u[1]*v[2] - u[2]*v[1], u[2]*v[0] - u[0]*v[2], u[0]*v[1] - u[1]*v[0]}
}

// TestShadedLeaves checks that Shaded does not modify its receiver.
func TestShadedLeaves(t *testing.T) {
	w := box().Weld()
	before := slices.Clone(w.Indices)
	a, b := w.Shaded(40), w.Shaded(40)
	if !slices.Equal(w.Indices, before) || !slices.Equal(a.Indices, b.Indices) {
		t.Errorf("the indices are %v, and were %v", w.Indices, before)
	}
}

func TestShadedScales(t *testing.T) {
	want := box().Shaded(CreaseAngle).Normals
	for _, scale := range []float32{1e-40, 1e-30, 1e30, 1e38} {
		m := box()
		for i := range m.Positions {
			m.Positions[i] *= scale
		}
		got := m.Shaded(CreaseAngle).Normals
		for i := range want {
			if len(got) != len(want) || math.Abs(float64(got[i]-want[i])) > 1e-4 {
				t.Fatalf("a box with sides of %g has the normals %v, want %v", scale, got, want)
			}
		}
	}
}
