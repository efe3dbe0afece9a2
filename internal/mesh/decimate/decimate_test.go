package decimate

import (
	"math"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/measure"
	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
)

func to(t testing.TB, m *mesh.Mesh, triangles int) *mesh.Mesh {
	t.Helper()
	d, err := To(t.Context(), m, triangles, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := d.Triangles(); n > triangles {
		t.Errorf("%d triangles were made %d, want at most %d", m.Triangles(), n, triangles)
	}
	for _, x := range d.Positions {
		if x != x || math.IsInf(float64(x), 0) {
			t.Fatalf("got coordinate %v, want a finite one", x)
		}
	}
	for _, v := range d.Indices {
		if int(v) >= d.Vertices() {
			t.Fatalf("got vertex %d of %d, want one that exists", v, d.Vertices())
		}
	}
	if (d.Colors != nil) != (m.Colors != nil) || d.Colors != nil && len(d.Colors) != 4*d.Vertices() {
		t.Errorf("got %d bytes of colors for %d vertices, want 4 for each if the mesh has colors", len(d.Colors),
			d.Vertices())
	}
	return d
}

func measured(t testing.TB, m *mesh.Mesh) measure.Facts {
	t.Helper()
	f, err := measure.Of(t.Context(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// compare checks that b is nearly the surface a. Lengths are relative to the diagonal.
func compare(t testing.TB, name string, a, b *mesh.Mesh, most float64) {
	t.Helper()
	f, g := measured(t, a), measured(t, b)
	size := f.Box.Diagonal()
	for i := range 3 {
		if d := max(math.Abs(f.Box.Min[i]-g.Box.Min[i]), math.Abs(f.Box.Max[i]-g.Box.Max[i])); d > 0.01*size {
			t.Errorf("%s: got box %v, want %v to 1 %%", name, g.Box, f.Box)
		}
	}
	d, turned := apart(a, b, rng(), 1000)
	t.Logf("%s: %d to %d triangles, %.4f %% of the size apart, %.2f %% turned, area %.4f", name, a.Triangles(),
		b.Triangles(), 100*d/size, 100*turned,
		g.Area/f.Area)
	if d > most*size {
		t.Errorf("%s: %.4f %% of the size apart, want at most %v %%", name, 100*d/size, 100*most)
	}
	if most > 0.01 {
		return
	}
	if f.Watertight && !g.Watertight || f.Manifold && !g.Manifold || f.Volume != nil && g.Volume == nil {
		t.Errorf("%s: watertight %v, manifold %v, turned one way %v, and then %v, %v, %v", name, f.Watertight, f.Manifold,
			f.Volume != nil,
			g.Watertight, g.Manifold, g.Volume != nil)
	}
	if turned > 0.01 {
		t.Errorf("%s: got %.2f %% of the surface turned over, want at most 1 %%", name, 100*turned)
	}
}

// worse lists the tolerances of meshes that cannot be reduced to a quarter more accurately.
var worse = map[string]float64{
	"off/assimp_Wuson.off": 0.03, // has slits of a hundred-thousandth that open
	// has hardly more triangles than its holes need, and must lose some
	"3mf/3mfsamples_dodeca_chain_loop_color.3mf": 0.03,
}

func TestRealMeshes(t *testing.T) {
	meshes := decoded.Meshes(t)
	meshes["sphere"] = decoded.Sphere(t, 20_000)
	for name, m := range meshes {
		d := to(t, m, m.Triangles()/4)
		if m.Triangles() < 3000 {
			continue // each triangle is needed
		}
		most := 0.01
		if x := worse[name]; x > 0 {
			most = x
		}
		compare(t, name, m, d, most)
		if d.Triangles() < m.Triangles()/4-4 {
			t.Errorf("%s: %d triangles, where %d are wanted", name, d.Triangles(), m.Triangles()/4)
		}
		if m.Triangles() > 10_000 {
			continue
		}
		again := to(t, m, m.Triangles()/4)
		if !slices.Equal(d.Positions, again.Positions) || !slices.Equal(d.Indices, again.Indices) {
			t.Errorf("%s: got another result the second time, want the same", name)
		}
	}
}

func TestSmallMeshesAreReturned(t *testing.T) {
	m := decoded.Sphere(t, 1000)
	cloud := &mesh.Mesh{Cloud: true, Positions: m.Positions}
	if to(t, m, m.Triangles()) != m || to(t, m, 1<<40) != m || to(t, cloud, cloud.Vertices()) != cloud {
		t.Error("a mesh that is small enough is another")
	}
	before := slices.Clone(m.Positions)
	to(t, m, 100)
	if !slices.Equal(before, m.Positions) {
		t.Error("the given mesh was changed")
	}
}

// square returns a square of 2·n·n triangles at z = 0, with the color that paint returns for the
// center of each.
func square(n int, paint func(x, y float64) [4]uint8) *mesh.Mesh {
	m := &mesh.Mesh{Unit: 1}
	for i := range n {
		for j := range n {
			for _, t := range [2][3][2]int{{{i, j}, {i + 1, j}, {i + 1, j + 1}}, {{i, j}, {i + 1, j + 1}, {i, j + 1}}} {
				for _, p := range t {
					m.Positions = append(m.Positions, float32(p[0])/float32(n), float32(p[1])/float32(n), 0)
				}
				if paint != nil {
					c := paint((float64(i)+0.5)/float64(n), (float64(j)+0.5)/float64(n))
					m.Colors = append(m.Colors, slices.Repeat(c[:], 3)...)
				}
			}
		}
	}
	return m
}

func TestBorders(t *testing.T) {
	d := to(t, square(40, nil), 20)
	f := measured(t, d)
	if math.Abs(f.Area-1) > 1e-5 || f.Size[0] < 0.9999 || f.Size[0] > 1.0001 || f.Size[2] != 0 || f.Components != 1 {
		t.Errorf("a square: got area %v, size %v and %d components, want 1, 1×1×0 and 1", f.Area, f.Size, f.Components)
	}
	// A hole in the middle stays in place.
	m := square(40, nil)
	var kept []float32
	for p := m.Positions; len(p) > 0; p = p[9:] {
		if x, y := (p[0]+p[3]+p[6])/3, (p[1]+p[4]+p[7])/3; x < 0.3 || x > 0.7 || y < 0.3 || y > 0.7 {
			kept = append(kept, p[:9]...)
		}
	}
	m.Positions = kept
	if f := measured(t, to(t, m, 20)); math.Abs(f.Area-0.84) > 1e-4 {
		t.Errorf("with a hole there is the area %v, want 0.84", f.Area)
	}
}

// painted returns the area of each color.
func painted(m *mesh.Mesh) map[[4]uint8]float64 {
	areas := make(map[[4]uint8]float64)
	for i := range m.Triangles() {
		a, b, c := m.Corners(i)
		n := place(m, b).minus(place(m, a)).cross(place(m, c).minus(place(m, a)))
		for _, v := range []uint32{a, b, c} {
			areas[[4]uint8(m.Colors[4*v:4*v+4])] += math.Sqrt(n.dot(n)) / 6
		}
	}
	return areas
}

func TestColors(t *testing.T) {
	red, blue := [4]uint8{255, 0, 0, 255}, [4]uint8{0, 0, 255, 255}
	flag := square(40, func(x, y float64) [4]uint8 {
		if x < 0.5 {
			return red
		}
		return blue
	})
	d := to(t, flag, 30)
	if a := painted(d); len(a) != 2 || math.Abs(a[red]-0.5) > 1e-4 || math.Abs(a[blue]-0.5) > 1e-4 {
		t.Errorf("half red and half blue: got areas %v, want the same", a)
	}
	// A stripe one triangle wide is kept, although it is narrower than the usual error.
	green := [4]uint8{0, 255, 0, 255}
	striped := square(40, func(x, y float64) [4]uint8 {
		switch {
		case x < 0.5:
			return red
		case x < 0.525:
			return green
		}
		return blue
	})
	for i := 0; i < len(striped.Positions); i += 3 {
		if x := &striped.Positions[i]; *x > 0.51 {
			*x -= 0.0249
		}
	}
	d = to(t, striped, 100)
	if a := painted(d); len(a) != 3 || math.Abs(a[green]-1e-4) > 1e-5 {
		t.Errorf("with a green stripe: got areas %v, want 0.0001 in green", a)
	}
	// If each triangle has its own color, color boundaries must give way, and nothing else.
	n := uint8(0)
	confetti := square(20, func(x, y float64) [4]uint8 { n += 37; return [4]uint8{n, n * 3, n * 5, 255} })
	if f := measured(t, to(t, confetti, 50)); math.Abs(f.Area-1) > 0.02 || !f.Manifold || f.Components != 1 {
		t.Errorf("confetti: got area %v, %d components, manifold %v, want 1, 1 and true", f.Area, f.Components, f.Manifold)
	}
	// A smooth gradient stays smooth at each corner.
	shade := decoded.Sphere(t, 20_000)
	gray := func(p []float32) uint8 { return uint8(127.5 + 4*p[2]) }
	for p := shade.Positions; len(p) > 0; p = p[3:] {
		shade.Colors = append(shade.Colors, gray(p), gray(p), gray(p), 255)
	}
	d = to(t, shade, 2000)
	for v := range d.Vertices() {
		if got, want := int(d.Colors[4*v]), int(gray(d.Positions[3*v:])); got < want-8 || got > want+8 ||
			d.Colors[4*v+3] != 255 {
			t.Fatalf("the color at %v is %v, want %d", d.Positions[3*v:3*v+3], d.Colors[4*v:4*v+4], want)
		}
	}
	if n := d.Vertices(); n > 1100 {
		t.Errorf("got %d vertices, want at most 1100, because each position has one color", n)
	}
}

// TestNoFaceFlips checks that no face of a flat irregular surface flips.
func TestNoFaceFlips(t *testing.T) {
	m := square(60, nil)
	for p := m.Positions; len(p) > 0; p = p[3:] {
		x, y := float64(p[0]), float64(p[1])
		if x > 0 && x < 1 && y > 0 && y < 1 {
			p[0] = float32(x + 0.15/60*math.Sin(9311*x+1733*y*y))
			p[1] = float32(y + 0.15/60*math.Cos(8111*y+577*x*x))
		}
	}
	for _, n := range []int{5000, 2000, 500, 100} {
		d := to(t, m, n)
		turned, area := 0, 0.0
		for i := range d.Triangles() {
			a, b, c := d.Corners(i)
			up := place(d, b).minus(place(d, a)).cross(place(d, c).minus(place(d, a)))[2]
			if area += math.Abs(up) / 2; up < 0 {
				turned++
			}
		}
		if turned > 0 || math.Abs(area-1) > 1e-5 {
			t.Errorf("got %d of %d triangles turned over and the area %v, want 0 and 1", turned, d.Triangles(), area)
		}
	}
}

// TestHoles checks that a plate with 16 holes keeps them all.
func TestHoles(t *testing.T) {
	const cut, n = 3, 9 * 3 // blocks on each side of a hole, and of the plate
	solid := func(x, y, z int) bool {
		inside := x >= 0 && x < n && y >= 0 && y < n && z >= 0 && z < cut
		return inside && (x/cut%2 == 0 || y/cut%2 == 0)
	}
	m := &mesh.Mesh{Unit: 1}
	for i := range n * n * cut {
		at := [3]int{i % n, i / n % n, i / n / n}
		for axis := range 3 {
			for _, side := range []int{0, 1} {
				next := at
				next[axis] += 2*side - 1
				if !solid(at[0], at[1], at[2]) || solid(next[0], next[1], next[2]) {
					continue
				}
				corner := func(u, v int) (p [3]float32) {
					p[axis], p[(axis+1)%3], p[(axis+2)%3] = float32(at[axis]+side), float32(at[(axis+1)%3]+u),
						float32(at[(axis+2)%3]+v)
					return p
				}
				q := [4][3]float32{corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)}
				if side == 0 {
					q[1], q[3] = q[3], q[1]
				}
				for _, k := range []int{0, 1, 2, 0, 2, 3} {
					m.Positions = append(m.Positions, q[k][:]...)
				}
			}
		}
	}
	characteristic := func(f measure.Facts) int { return f.Vertices - f.Triangles/2 }
	f, g := measured(t, m), measured(t, to(t, m, 340))
	if characteristic(f) != 2-2*16 || characteristic(g) != characteristic(f) || !g.Watertight || !g.Manifold ||
		g.Volume == nil {
		t.Fatalf("got Euler characteristic %d, watertight %v, manifold %v, want %d of a closed mesh", characteristic(g),
			g.Watertight, g.Manifold, characteristic(f))
	}
	if math.Abs(*g.Volume / *f.Volume - 1) > 1e-3 {
		t.Errorf("got volume %v, want %v to 0.1 %%", *g.Volume, *f.Volume)
	}
}

// TestThinPartIsKept checks that a hair of three faces around is kept beside a sphere with larger
// faces.
func TestThinPartIsKept(t *testing.T) {
	const n = 200
	at := func(i, k int) []float32 {
		sin, cos := math.Sincos(2 * math.Pi * float64(k%3) / 3)
		bend := math.Sin(float64(i) / 20)
		return []float32{40 + float32(0.05*cos+bend), float32(0.05 * sin), float32(i) / 10}
	}
	m := decoded.Sphere(t, 20_000)
	for i := range n {
		for k := range 3 {
			m.Positions = slices.Concat(m.Positions, at(i, k), at(i, k+1), at(i+1, k+1), at(i, k), at(i+1, k+1), at(i+1, k))
		}
	}
	m.Positions = slices.Concat(m.Positions, at(0, 0), at(0, 2), at(0, 1), at(n, 0), at(n, 1), at(n, 2))
	if f := measured(t, m); f.Volume == nil || f.Components != 2 {
		t.Fatalf("got %d components, with a volume %v, want 2 and true", f.Components, f.Volume != nil)
	}
	if f := measured(t, to(t, m, 1500)); f.Volume == nil || !f.Manifold || f.Components != 2 {
		t.Errorf("got %d components, with a volume %v, manifold %v, want 2, true and true", f.Components, f.Volume != nil,
			f.Manifold)
	}
}

// debris is a sphere with n small tetrahedra around it.
func debris(t testing.TB, n int) *mesh.Mesh {
	m := decoded.Sphere(t, 20_000)
	r := rng()
	for range n {
		var at [4][3]float32
		for i := range 3 {
			x := 100*r.Float32() - 50
			for k := range at {
				at[k][i] = x
			}
			at[i][i] += 0.02
		}
		for _, face := range [4][3]int{{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}} {
			for _, k := range face {
				m.Positions = append(m.Positions, at[k][:]...)
			}
		}
	}
	return m
}

func TestSphereAmongDebris(t *testing.T) {
	m := debris(t, 2000)
	d := to(t, m, 4000)
	f := measured(t, d)
	if math.Abs(f.Area/measured(t, decoded.Sphere(t, 20_000)).Area-1) > 0.005 || !f.Watertight || !f.Manifold ||
		f.Components > 10 {
		t.Errorf("a sphere among debris: got %d triangles, %d components, area %v, watertight %v, manifold %v, want a closed sphere", d.Triangles(), f.Components, f.Area, f.Watertight, f.Manifold)
	}
}
