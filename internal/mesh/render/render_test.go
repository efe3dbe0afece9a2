package render

import (
	"bytes"
	"context"
	"image"
	"math"
	"runtime"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// drawn draws a mesh, whose picture must not be empty, nor full.
func drawn(t *testing.T, name string, m *mesh.Mesh, width, height int) *image.NRGBA {
	t.Helper()
	img, err := Render(t.Context(), m, Options{Width: width, Height: height})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if img.Bounds() != image.Rect(0, 0, width, height) {
		t.Fatalf("%s: %v, want %d×%d", name, img.Bounds(), width, height)
	}
	return img
}

// covered tells for each sample whether something stands there.
func covered(t *testing.T, m *mesh.Mesh, width, height int) (all []bool, n int) {
	t.Helper()
	c := look(m, width, height)
	r, err := rasterize(t.Context(), m, c, newGround(c), func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	all = make([]bool, len(r.near))
	for i, near := range r.near {
		if all[i] = near > 0; all[i] {
			n++
		}
	}
	return all, n
}

func scaledBy(m *mesh.Mesh, by, shift float64) *mesh.Mesh {
	out := *m
	out.Positions = make([]float32, len(m.Positions))
	for i, x := range m.Positions {
		out.Positions[i] = float32(float64(x)*by + shift)
	}
	return &out
}

func triangle(p ...float32) *mesh.Mesh { return &mesh.Mesh{Unit: 1, Positions: p} }

// Whatever its shape, size and place, something of a mesh is seen, inside of the margins.
func TestEverythingIsSeen(t *testing.T) {
	ball := bumpy(2_000)
	flat, needle, edge := scaledBy(ball, 1, 0), scaledBy(ball, 1, 0), scaledBy(ball, 1, 0)
	for i := 0; i < len(ball.Positions); i += 3 {
		flat.Positions[i+2] *= 1e-4
		needle.Positions[i] *= 1e-3
		needle.Positions[i+1] *= 1e-3
		edge.Positions[i+1] *= 1e-4
	}
	for name, c := range map[string]struct {
		mesh  *mesh.Mesh
		least int // samples
	}{
		"a ball":                             {ball, 8_000},
		"a plate":                            {flat, 4_000},
		"a plate that stands":                {edge, 4_000},
		"a needle":                           {needle, 20},
		"one triangle":                       {triangle(0, 0, 0, 1, 0, 0, 0, 0, 1), 1_500},
		"a huge ball":                        {scaledBy(ball, 1e16, 0), 8_000},
		"a tiny ball":                        {scaledBy(ball, 1e-20, 0), 8_000},
		"a ball far away":                    {scaledBy(ball, 1, 1e5), 7_000},
		"a triangle beside one without area": {triangle(0, 0, 0, 1, 0, 0, 0, 0, 1, 5, 5, 5, 5, 5, 5, 5, 5, 5), 10},
	} {
		drawn(t, name, c.mesh, 80, 60)
		all, n := covered(t, c.mesh, 160, 120)
		if n < c.least {
			t.Errorf("%s: %d samples are covered, want %d or more", name, n, c.least)
		}
		for i, there := range all {
			if x, y := i%160, i/160; there && (x < 6 || y < 5 || x >= 154 || y >= 115) {
				t.Errorf("%s: something stands in the margin, at %d, %d", name, x, y)
				break
			}
		}
	}
	for name, m := range map[string]*mesh.Mesh{
		"one place":      triangle(3, 3, 3, 3, 3, 3, 3, 3, 3),
		"one point":      {Unit: 1, Cloud: true, Positions: []float32{1, 2, 3}},
		"an empty cloud": {Unit: 1, Cloud: true},
		"nothing":        {Unit: 1},
	} {
		drawn(t, name, m, 64, 48)
	}
	cloud := scaledBy(ball, 1, 0)
	cloud.Cloud = true
	if _, n := covered(t, cloud, 160, 120); n < 3_000 {
		t.Errorf("of a cloud %d samples are covered", n)
	}
}

// A closed body has no holes in its silhouette: triangles that share an edge leave no crack between them.
func TestNoCracks(t *testing.T) {
	for _, n := range []int{500, 20_000, 250_000} {
		const width, height = 300, 300
		all, _ := covered(t, ball(n, 0), width, height)
		for y := range height {
			first, last := -1, -1
			for x := range width {
				if all[y*width+x] {
					if first < 0 {
						first = x
					}
					last = x
				}
			}
			for x := first; x >= 0 && x <= last; x++ {
				if !all[y*width+x] {
					t.Fatalf("a ball of %d triangles has a hole at %d, %d", n, x, y)
				}
			}
		}
	}
}

// The same mesh gives the same picture, on one processor and on more, and both sides of it are drawn.
func TestSamePicture(t *testing.T) {
	m := bumpy(5_000)
	m.Colors = bytes.Repeat([]byte{200, 80, 40, 255}, m.Vertices())
	first := drawn(t, "first", m, 200, 150)
	before := runtime.GOMAXPROCS(1)
	second := drawn(t, "second", m, 200, 150)
	runtime.GOMAXPROCS(before)
	if !bytes.Equal(first.Pix, second.Pix) {
		t.Error("two pictures of the same mesh differ")
	}
	p := first.Pix[first.PixOffset(100, 75):]
	if !(p[0] > p[1] && p[1] > p[2]) {
		t.Errorf("what is orange is drawn as %v", p[:3])
	}
	inside := scaledBy(m, 1, 0)
	for i := 0; i+9 <= len(inside.Positions); i += 9 {
		for k := range 3 {
			inside.Positions[i+k], inside.Positions[i+3+k] = inside.Positions[i+3+k], inside.Positions[i+k]
		}
	}
	turned := drawn(t, "inside out", inside, 200, 150)
	if differ := difference(first, turned); differ > 2 {
		t.Errorf("inside out it looks different: by %.1f in the mean", differ)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Render(ctx, m, Options{Width: 64, Height: 64}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

func difference(a, b *image.NRGBA) float64 {
	total := 0.0
	for i := range a.Pix {
		total += math.Abs(float64(a.Pix[i]) - float64(b.Pix[i]))
	}
	return total / float64(len(a.Pix))
}

// Packed directions come back as they were, within half a degree.
func TestFacing(t *testing.T) {
	for i := range 1000 {
		theta, phi := math.Acos(float64(i%37)/37), float64(i)*0.7
		n := [3]float64{math.Sin(theta) * math.Cos(phi), math.Sin(theta) * math.Sin(phi), math.Cos(theta)}
		if got := unpack(pack(n)); dot(got, n) < math.Cos(0.7*math.Pi/180) {
			t.Fatalf("%v became %v", n, got)
		}
		if back := pack([3]float64{-n[0], -n[1], -n[2]}); n[2] > 0.01 && back != pack(n) {
			t.Fatalf("the other side of %v faces elsewhere", n)
		}
	}
}
