package render

import (
	"bytes"
	"context"
	"errors"
	"image"
	"math"
	"runtime"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
)

// draw renders a mesh and returns the image and the raster.
func draw(t *testing.T, m *mesh.Mesh, width, height int) (*image.NRGBA, *raster) {
	t.Helper()
	img, err := Render(t.Context(), m, Options{Width: width, Height: height})
	if err != nil {
		t.Fatal(err)
	}
	if !m.Cloud {
		m = m.Shaded(mesh.CreaseAngle)
	}
	c := look(m, width*samples, height*samples)
	r := newRaster(width*samples, height*samples, m.Colors != nil)
	if err := r.draw(t.Context(), m, c, newGround(c), func(float64) {}); err != nil {
		t.Fatal(err)
	}
	return img, r
}

// covered returns the bounding box and the number of covered samples.
func (r *raster) covered() (box image.Rectangle, count int) {
	for i, near := range r.near {
		if near != 0 {
			x, y := i%r.width, i/r.width
			box = box.Union(image.Rect(x, y, x+1, y+1))
			count++
		}
	}
	return box, count
}

// soup returns a mesh of triangles without indices.
func soup(corners ...[3]float64) *mesh.Mesh {
	m := &mesh.Mesh{Format: mesh.STL, Unit: 1}
	for _, p := range corners {
		m.Positions = append(m.Positions, float32(p[0]), float32(p[1]), float32(p[2]))
	}
	return m
}

// box returns a box of 12 triangles with a corner and side lengths.
func box(corner, side [3]float64) *mesh.Mesh {
	at := func(i int) [3]float64 {
		return [3]float64{corner[0] + side[0]*float64(i&1), corner[1] + side[1]*float64(i>>1&1), corner[2] +
			side[2]*float64(i>>2&1)}
	}
	var corners [][3]float64
	for _, q := range [][4]int{{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}} {
		corners = append(corners, at(q[0]), at(q[1]), at(q[2]), at(q[0]), at(q[2]), at(q[3]))
	}
	return soup(corners...)
}

func cloud(points ...[3]float64) *mesh.Mesh {
	m := soup(points...)
	m.Cloud = true
	return m
}

// with returns a modified box.
func with(change func(m *mesh.Mesh)) *mesh.Mesh {
	m := box([3]float64{}, [3]float64{1, 1, 1}).Weld()
	change(m)
	return m
}

// TestShapes checks that any shape is visible and fills the image except the margins.
func TestShapes(t *testing.T) {
	towards := viewpoint(box([3]float64{}, [3]float64{1, 1, 1}), [3]float64{1, 1, 1})
	aside := unit(cross(towards, [3]float64{0, 0, 1}))
	tests := []struct {
		name string
		mesh *mesh.Mesh
		part float64 // minimum covered fraction of the bounding box
		tiny bool    // too small to fill the image
	}{
		{"cube", box([3]float64{}, [3]float64{1, 1, 1}), 0.5, false},
		{"with Y up", with(func(m *mesh.Mesh) { m.Up = mesh.UpY }), 0.5, false},
		{"turned inside out", with(func(m *mesh.Mesh) {
			for i := 0; i < len(m.Indices); i += 3 {
				m.Indices[i], m.Indices[i+1] = m.Indices[i+1], m.Indices[i]
			}
		}), 0.5, false},
		{"plate that lies", box([3]float64{}, [3]float64{100, 80, 0.01}), 0.45, false},
		{"plate that stands", box([3]float64{}, [3]float64{100, 0.01, 80}), 0.45, false},
		{"plate that stands sideways", box([3]float64{}, [3]float64{0.01, 100, 80}), 0.45, false},
		{"square of no thickness", box([3]float64{}, [3]float64{1, 1, 0}), 0.45, false},
		{"triangle", soup([3]float64{0, 0, 0}, [3]float64{1, 0, 0}, [3]float64{0, 0, 1}), 0.3, false},
		{"triangle seen on its edge", soup([3]float64{0, 0, 0}, towards, sum(towards, [3]float64{0, 0, 1})), 0.1, false},
		{"rod", box([3]float64{}, [3]float64{1000, 1, 1}), 0.001, false},
		{"tower", box([3]float64{}, [3]float64{1, 1, 1000}), 0.1, false},
		{"needle", box([3]float64{}, [3]float64{0, 0, 1e6}), 0.1, false},
		{"thread", box([3]float64{}, [3]float64{1, 1e-7, 1e-7}), 0.001, false},
		{"needle that points to the viewer", soup(scaled(towards, -50), scaled(towards, 50),
			sum(scaled(towards, 50), scaled(aside, 0.001))), 0.001, false},
		{"line", soup([3]float64{0, 0, 0}, [3]float64{1, 1, 1}, [3]float64{2, 2, 2}), 0.001, false},
		{"one place", soup([3]float64{7, 7, 7}, [3]float64{7, 7, 7}, [3]float64{7, 7, 7}), 0.5, true},
		{"box without size", box([3]float64{3, 4, 5}, [3]float64{}), 0.5, true},
		{"far away", box([3]float64{1e6, -1e6, 1e6}, [3]float64{100, 100, 100}), 0.5, false},
		{"beyond single precision", with(func(m *mesh.Mesh) { m.Origin = [3]float64{1e17, -1e17, 1e17} }), 0.5, false},
		{"huge", box([3]float64{-1e30, 0, 0}, [3]float64{2e30, 2e30, 2e30}), 0.5, false},
		{"tiny", box([3]float64{}, [3]float64{1e-30, 1e-30, 1e-30}), 0.5, false},
		{"as small as can be", box([3]float64{}, [3]float64{1e-44, 1e-44, 1e-44}), 0.5, false},
		{"vertex of no triangle", with(func(m *mesh.Mesh) { m.Positions = append(m.Positions, 1e9, 1e9, 1e9) }), 0.5, false},
		{"degenerate triangles", with(func(m *mesh.Mesh) { m.Indices = append(m.Indices, 0, 0, 0, 1, 2, 1) }), 0.5, false},
		{"point of a cloud", cloud([3]float64{1, 2, 3}), 0.5, true},
		{"points in one place", cloud([3]float64{1, 2, 3}, [3]float64{1, 2, 3}), 0.5, true},
		{"cloud of a plane seen on its edge", cloud([3]float64{0, 0, 0}, towards, [3]float64{0, 0, 1},
			sum(towards, [3]float64{0, 0, 1})), 0.001, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, size := range []image.Point{{256, 256}, {320, 120}, {16, 200}} {
				_, r := draw(t, test.mesh, size.X, size.Y)
				place, count := r.covered()
				middle := place.Min.Add(place.Max).Div(2)
				if test.tiny {
					if count < 4 || abs(float32(middle.X-size.X)) > 3 || abs(float32(middle.Y-size.Y)) > 3 {
						t.Fatalf("%v: %d samples are covered, in %v", size, count, place)
					}
					continue
				}
				filled := max(float64(place.Dx())/float64(r.width), float64(place.Dy())/float64(r.height))
				slack := 0.02
				if test.mesh.Cloud || r.thin() || size.X < 100 {
					slack = 0.16 // the width of discs and pens
				}
				if math.Abs(filled-(1-2*margin)) > slack {
					t.Errorf("%v: the mesh is in %v, which fills %.2f of the image, not %.2f", size, place, filled, 1-2*margin)
				}
				if part := float64(count) / float64(place.Dx()*place.Dy()); part < test.part {
					t.Errorf("%v: %.4f of %v is covered, want %.4f", size, part, place, test.part)
				}
			}
		})
	}
}

// TestScales checks that a huge, a tiny and a distant cube look alike.
func TestScales(t *testing.T) {
	want, _ := draw(t, box([3]float64{}, [3]float64{1, 1, 1}), 96, 96)
	for name, m := range map[string]*mesh.Mesh{
		"huge":                  box([3]float64{}, [3]float64{1e30, 1e30, 1e30}),
		"tiny":                  box([3]float64{}, [3]float64{1e-30, 1e-30, 1e-30}),
		"far away":              with(func(m *mesh.Mesh) { m.Origin = [3]float64{1e17, -1e17, 1e17} }),
		"beside a stray vertex": with(func(m *mesh.Mesh) { m.Positions = append(m.Positions, 1e9, 1e9, 1e9) }),
	} {
		got, _ := draw(t, m, 96, 96)
		for i := range want.Pix {
			if d := int(got.Pix[i]) - int(want.Pix[i]); d < -8 || d > 8 {
				t.Errorf("%s: at %d, %d: got %d, want %d", name, i/4%96, i/4/96, got.Pix[i], want.Pix[i])
				break
			}
		}
	}
}

// TestNoCracks checks that each row of a convex body is covered without gaps.
func TestNoCracks(t *testing.T) {
	for _, n := range []int{16, 100, 1000, 30_000, 250_000} {
		for _, smooth := range []bool{true, false} {
			m := ball(n, 0)
			if smooth {
				m = m.Shaded(mesh.CreaseAngle)
			}
			c := look(m, 512, 512)
			r := newRaster(512, 512, false)
			if err := r.draw(t.Context(), m, c, newGround(c), func(float64) {}); err != nil {
				t.Fatal(err)
			}
			for y := range r.height {
				pieces := 0
				for x := 1; x < r.width; x++ {
					if i := y*r.width + x; r.near[i] > 0 && r.near[i-1] == 0 {
						pieces++
					}
				}
				if pieces > 1 {
					t.Errorf("%d triangles, smooth %v: got row %d in %d pieces, want 1", n, smooth, y, pieces)
				}
			}
			if _, count := r.covered(); n >= 1000 && math.Abs(float64(count)/(math.Pi/4*440*440)-1) > 0.03 {
				t.Errorf("%d triangles: got %d covered samples, want those of a disc to 3 %%", n, count)
			}
		}
	}
}

// TestRenderIsDeterministic checks that concurrent rendering is deterministic.
func TestRenderIsDeterministic(t *testing.T) {
	for _, m := range []*mesh.Mesh{ball(2000, 0.3), ball(250_000, 0.3), cloud([3]float64{1, 0, 0}, [3]float64{0, 2, 0},
		[3]float64{0, 0, 3})} {
		first, _ := draw(t, m, 128, 96)
		for _, procs := range []int{1, 2} {
			before := runtime.GOMAXPROCS(procs)
			again, _ := draw(t, m, 128, 96)
			runtime.GOMAXPROCS(before)
			if !bytes.Equal(first.Pix, again.Pix) {
				t.Errorf("%d triangles: got another image on %d processors, want the same", m.Triangles(), procs)
			}
		}
	}
}

// TestSameCoverage checks that spheres of different numbers of triangles cover about the same
// samples. The benchmark "rendering" takes the cost of the coarsest for that of the image.
func TestSameCoverage(t *testing.T) {
	covered := func(n int) int {
		_, r := draw(t, decoded.Sphere(t, n), 512, 512)
		_, count := r.covered()
		return count
	}
	coarse := covered(1000)
	for _, n := range []int{10_000, 100_000} {
		if fine := covered(n); math.Abs(float64(fine)/float64(coarse)-1) > 0.005 {
			t.Errorf("%d triangles: got %d covered samples, want %d to 0.5 %% as with 1000 triangles", n, fine, coarse)
		}
	}
}

// TestBothSidesLookAlike checks that both sides of a triangle look alike.
func TestBothSidesLookAlike(t *testing.T) {
	m := ball(3000, 0.3)
	back := *m
	back.Positions = nil
	for t := range m.Triangles() {
		p := m.Positions[9*t : 9*t+9]
		back.Positions = append(back.Positions, p[0], p[1], p[2], p[6], p[7], p[8], p[3], p[4], p[5])
	}
	a, _ := draw(t, m, 128, 128)
	b, _ := draw(t, &back, 128, 128)
	for i := range a.Pix {
		if d := int(a.Pix[i]) - int(b.Pix[i]); d < -3 || d > 3 {
			t.Fatalf("at %d, %d: %d and %d", i/4%128, i/4/128, a.Pix[i], b.Pix[i])
		}
	}
}

// TestColors checks that vertex colors are visible, and that the top is brighter than the sides.
func TestColors(t *testing.T) {
	m := box([3]float64{}, [3]float64{1, 1, 1})
	for range m.Vertices() {
		m.Colors = append(m.Colors, 200, 40, 10, 255)
	}
	img, r := draw(t, m, 128, 128)
	place, _ := r.covered()
	middle := image.Pt((place.Min.X+place.Max.X)/2/samples, (place.Min.Y+place.Max.Y)/2/samples)
	top, front := img.NRGBAAt(middle.X, middle.Y-30), img.NRGBAAt(middle.X-20, middle.Y+20)
	if front.R < 100 || front.R > 220 || front.G > front.R/2 || front.B > front.R/2 || front.A != 255 {
		t.Errorf("got front %v, want an opaque red", front)
	}
	if top.R <= front.R {
		t.Errorf("got top %v, want it brighter than the front %v", top, front)
	}
}

// asked is a context that counts checks and is done after some of them.
type asked struct {
	context.Context
	count, end int
}

func (a *asked) Err() error {
	if a.count++; a.count > a.end {
		return context.Canceled
	}
	return nil
}

// TestCanceled checks that the context is checked between triangles that fill the image.
func TestCanceled(t *testing.T) {
	var corners [][3]float64
	for i := range 200 {
		z := float64(i) / 200
		corners = append(corners, [3]float64{0, 0, z}, [3]float64{1, 0, z}, [3]float64{0, 1, z})
	}
	many := soup(corners...)
	many.Cloud = true
	for name, m := range map[string]*mesh.Mesh{"large triangles": soup(corners...), "cloud": many} {
		for end := range 4 {
			ctx := &asked{Context: t.Context(), end: end}
			img, err := Render(ctx, m, Options{Width: 256, Height: 256})
			if img != nil || !errors.Is(err, context.Canceled) || ctx.count > end+2 {
				t.Errorf("%s: canceled at the %d. time it was asked: %v, after it was asked %d times", name, end+1, err, ctx.count)
			}
		}
	}
	ctx := &asked{Context: t.Context(), end: 1 << 30}
	if _, err := Render(ctx, soup(corners...), Options{Width: 256, Height: 256}); err != nil || ctx.count < 150 {
		t.Errorf("%v, after it was asked %d times", err, ctx.count)
	}
}

// TestProgress checks that progress increases from 0 to 1.
func TestProgress(t *testing.T) {
	last := 0.0
	_, err := Render(t.Context(), ball(100_000, 0), Options{Width: 64, Height: 64, Progress: func(done float64) {
		if !(done >= last && done <= 1) {
			t.Errorf("got progress %v after %v, want more, and at most 1", done, last)
		}
		last = done
	}})
	if err != nil || last != 1 {
		t.Errorf("got %v, at %v, want no error at 1", err, last)
	}
}

// TestAllocations checks that drawing a triangle does not allocate.
func TestAllocations(t *testing.T) {
	m := ball(smoothUpTo+10_000, 0)
	allocations := testing.AllocsPerRun(1, func() {
		if _, err := Render(t.Context(), m, Options{Width: 64, Height: 64}); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 100 {
		t.Errorf("%d triangles: got %.0f allocations, want at most 100", m.Triangles(), allocations)
	}
}

// TestPack checks the round trip of packed directions.
func TestPack(t *testing.T) {
	for i := range 1000 {
		theta, phi := float64(i)*0.0031, float64(i)*0.7
		n := direction{float32(math.Sin(theta) * math.Cos(phi)), float32(math.Sin(theta) * math.Sin(phi)),
			float32(math.Cos(theta))}
		want := n
		if want.z < 0 {
			want = direction{-n.x, -n.y, -n.z}
		}
		if got := unpack(n.pack()); got.dot(want) < 0.9999 {
			t.Errorf("got direction %v, want %v", got, n)
		}
	}
	if got := (direction{}).pack(); got != toViewer {
		t.Errorf("no direction is packed as %x", got)
	}
}

// TestAverage checks that samples are shaded together only if they face the same way, and that the
// common direction is in their middle.
func TestAverage(t *testing.T) {
	at := func(degrees float64) uint32 {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		return direction{float32(sin), 0.3, float32(cos)}.pack()
	}
	if got, ok := average(at(20), at(20.3), at(20.6), at(20.9)); !ok || got.dot(unpack(at(20.45))) < 0.9999 {
		t.Errorf("got %v, %v, want %v", got, ok, unpack(at(20.45)))
	}
	for _, far := range []uint32{at(25), at(-20), toViewer} {
		if got, ok := average(at(20), at(20), far, at(20)); ok {
			t.Errorf("directions that differ have the average %v", got)
		}
	}
}
