package geometry

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
)

// cut triangulates a polygon and checks that the result is n - 2 triangles of its corners.
func cut(t *testing.T, points [][3]float64) [][3]int {
	t.Helper()
	var out [][3]int
	Triangulate(points, func(a, b, c int) {
		if min(a, b, c) < 0 || max(a, b, c) >= len(points) || a == b || b == c || c == a {
			t.Fatalf("%d corners are cut into a triangle %d %d %d", len(points), a, b, c)
		}
		out = append(out, [3]int{a, b, c})
	})
	if want := max(0, len(points)-2); len(out) != want {
		t.Fatalf("%d corners are cut into %d triangles, want %d", len(points), len(out), want)
	}
	return out
}

// areas returns the sum of the areas of triangles and the area of the polygon. They are equal if no
// triangle lies outside the polygon or overlaps another one.
func areas(points [][3]float64, triangles [][3]int) (sum, outline float64) {
	cross := func(a, b, c [3]float64) (n [3]float64) {
		for i := range n {
			j, k := (i+1)%3, (i+2)%3
			n[i] = (b[j]-a[j])*(c[k]-a[k]) - (b[k]-a[k])*(c[j]-a[j])
		}
		return n
	}
	length := func(n [3]float64) float64 { return math.Sqrt(n[0]*n[0]+n[1]*n[1]+n[2]*n[2]) / 2 }
	for _, t := range triangles {
		sum += length(cross(points[t[0]], points[t[1]], points[t[2]]))
	}
	var total [3]float64
	for i := 2; i < len(points); i++ {
		n := cross(points[0], points[i-1], points[i])
		for k := range total {
			total[k] += n[k]
		}
	}
	return sum, length(total)
}

func TestTriangulate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	star := func(n int) (p [][3]float64) { // a polygon that is visible from its center
		for i := range n {
			a, r := 2*math.Pi*float64(i)/float64(n), 0.2+random.Float64()
			p = append(p, [3]float64{r * math.Cos(a), r * math.Sin(a), 0})
		}
		return p
	}
	var comb, spiral [][3]float64
	for i := range 50 {
		comb = append(comb, [3]float64{float64(i), 0, 0}, [3]float64{float64(i) + 0.5, 10, 0})
	}
	comb = append(comb, [3]float64{50, 0, 0}, [3]float64{50, -1, 0}, [3]float64{0, -1, 0})
	for i := range 100 {
		a := float64(i) / 5
		spiral = append(spiral, [3]float64{a * math.Cos(a), a * math.Sin(a), 0})
	}
	for i := 99; i >= 0; i-- {
		a := float64(i) / 5
		spiral = append(spiral, [3]float64{(a + 1) * math.Cos(a), (a + 1) * math.Sin(a), 0})
	}
	for name, flat := range map[string][][3]float64{
		"triangle":    {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
		"square":      {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}},
		"arrow":       {{0, 0, 0}, {2, 1, 0}, {0, 2, 0}, {1, 1, 0}},
		"arrow's tip": {{1, 1, 0}, {0, 0, 0}, {2, 1, 0}, {0, 2, 0}},
		"L":           {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}},
		"split sides": {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}, {0, 1, 0}},
		"with a hole": {{0, 0, 0}, {9, 0, 0}, {9, 9, 0}, {0, 9, 0}, {0, 0, 0}, {3, 3, 0}, {3, 6, 0}, {6, 6, 0}, {6, 3, 0},
			{3, 3, 0}},
		"comb":         comb,
		"spiral":       spiral,
		"star of 17":   star(17),
		"star of 1000": star(1000),
		"star of 5000": star(5000),
	} {
		for turned := range 6 { // in all orientations, in both directions, far from zero
			p := slices.Clone(flat)
			for i, q := range p {
				p[i] = [3]float64{q[turned%3] + 1e6, q[(turned+1)%3] - 1e6, q[(turned+2)%3] + q[turned%3]/4}
			}
			if turned >= 3 {
				slices.Reverse(p)
			}
			sum, outline := areas(p, cut(t, p))
			if math.Abs(sum-outline) > 1e-6*outline {
				t.Errorf("%s, %d: the triangles have the area %v, the polygon %v", name, turned, sum, outline)
			}
		}
	}
}

// TestTriangulateAnything triangulates random points: it must terminate and return n - 2 triangles.
func TestTriangulateAnything(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 300 {
		p := make([][3]float64, n)
		for i := range p {
			p[i] = [3]float64{random.Float64(), random.Float64(), random.Float64()}
			if n%3 == 0 {
				p[i] = [3]float64{float64(random.IntN(3)), float64(random.IntN(3)), 0}
			}
		}
		cut(t, p)
	}
	cut(t, make([][3]float64, 100))
	cut(t, [][3]float64{{math.NaN(), 0, 0}, {1, 0, 0}, {2, math.Inf(1), 0}, {3, 0, 0}, {1e300, 1e300, 0}})
	large := make([][3]float64, maxEarCorners)
	for i := range large {
		large[i] = [3]float64{random.Float64(), random.Float64(), 0}
	}
	cut(t, large)
	cut(t, append(large, large...))
}

// TestConcavePolygon triangulates a face of 66 corners of a real model: the triangles must not lie
// outside its outline.
func TestConcavePolygon(t *testing.T) {
	for _, r := range meshtest.Meshes(t) {
		if r.Name != "obj/concave_polygon/concave_polygon.obj" {
			continue
		}
		var vertices, points [][3]float64
		for line := range strings.Lines(string(r.Bytes(t))) {
			switch fields := strings.Fields(line); {
			case strings.HasPrefix(line, "v "):
				var p [3]float64
				for i := range p {
					p[i], _ = textscan.ParseFloat([]byte(fields[i+1]))
				}
				vertices = append(vertices, p)
			case strings.HasPrefix(line, "f "):
				for _, f := range fields[1:] {
					number, _, _ := strings.Cut(f, "/")
					v, _ := textscan.ParseInt([]byte(number))
					points = append(points, vertices[v-1])
				}
			}
		}
		triangles := cut(t, points)
		if sum, outline := areas(points, triangles); len(triangles) != 64 || math.Abs(sum-outline) > 1e-6*outline {
			t.Errorf("%d triangles have the area %v, the polygon %v", len(triangles), sum, outline)
		}
	}
}
