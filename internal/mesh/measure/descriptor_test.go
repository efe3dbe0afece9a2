package measure

import (
	"maps"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
)

func of(t testing.TB, m *mesh.Mesh) Facts {
	t.Helper()
	f, err := Of(t.Context(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func sharesKey(a, b Descriptor) bool {
	return slices.ContainsFunc(a.Keys(), func(k string) bool { return slices.Contains(b.Keys(), k) })
}

// mirroredNumbers returns the descriptor of the mirror image, which has the same keys.
func mirroredNumbers(d Descriptor) Descriptor {
	m := slices.Clone(d)
	for i := hand1; i < len(m); i++ {
		m[i] = -m[i]
	}
	return m
}

func mirrored(m *mesh.Mesh) *mesh.Mesh {
	out := *m
	out.Positions = slices.Clone(m.Positions)
	for i := 0; i < len(out.Positions); i += 3 {
		out.Positions[i] = -out.Positions[i]
	}
	return &out
}

// subdivided splits each triangle into four without changing the surface.
func subdivided(m *mesh.Mesh) *mesh.Mesh {
	out := &mesh.Mesh{Unit: m.Unit}
	for t := range m.Triangles() {
		i, j, k := m.Corners(t)
		a, b, c := m.At(i), m.At(j), m.At(k)
		half := func(p, q [3]float32) (h [3]float32) {
			for i := range h {
				h[i] = (p[i] + q[i]) / 2
			}
			return h
		}
		ab, bc, ca := half(a, b), half(b, c), half(c, a)
		for _, p := range [][3]float32{a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca} {
			out.Positions = append(out.Positions, p[:]...)
		}
	}
	return out
}

func TestSameShapeMoved(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	meshes := decoded.Meshes(t)
	meshes["sphere"] = decoded.Sphere(t, 3000)
	meshes["cube"] = box(1, 1, 1)
	meshes["cloud"] = &mesh.Mesh{Unit: 1, Cloud: true, Positions: decoded.Sphere(t, 500).Weld().Positions}
	names, total := 0, 0
	for name, m := range meshes {
		f := of(t, m)
		rounds := min(40, 40_000/max(1, m.Triangles())+2)
		for i := range rounds {
			digits := []int{6, 9}[i%2]
			g := of(t, moved(m, rng, digits))
			if !Same(f.Descriptor, g.Descriptor) || !sharesKey(f.Descriptor, g.Descriptor) {
				t.Errorf("%s moved and written with %d digits is not the same:\n%v\n%v", name, digits, f.Descriptor, g.Descriptor)
			}
			total++
			if f.Fingerprint != g.Fingerprint {
				names++
			}
		}
		if m.Cloud || m.Triangles() > 20_000 {
			continue
		}
		if g := of(t, subdivided(m)); !Same(f.Descriptor, g.Descriptor) || !sharesKey(f.Descriptor, g.Descriptor) {
			t.Errorf("%s with each triangle cut into four is not the same:\n%v\n%v", name, f.Descriptor, g.Descriptor)
		}
	}
	t.Logf("%d of %d have another fingerprint", names, total)
	if names > total/50 {
		t.Errorf("%d of %d have another fingerprint, want 2 %% at most", names, total)
	}
}

func TestDifferentShapes(t *testing.T) {
	same := map[string]string{ // shape by file name
		"hschendel_simple_bin.stl": "simple", "hschendel_simple_ascii.stl": "simple",
		"hschendel_confusingheader_bin.stl": "simple",
		"numpystl_HalfDonut_bin.stl":        "donut", "numpystl_HalfDonut_ascii.stl": "donut",
		"trimesh_featuretype.STL": "feature", "trimesh_featuretype.3MF": "feature",
		"3mfsamples_box.3mf": "box", "3mfsamples_box_prod.3mf": "box",
		"happly_platonic_shelf_le.ply": "shelf", "happly_platonic_shelf_be.ply": "shelf",
		"happly_platonic_shelf_ascii.ply": "shelf",
		"assimp_Cube.off":                 "cube", "trimesh_comments.off": "cube", "o3dv_cube_rgb_binary.ply": "cube",
		"cube":                   "cube",
		"assimp_box_UTF16BE.obj": "cube", "assimp_cube_with_vertexcolors.obj": "cube", "trimesh_negative_indices.obj": "cube",
	}
	meshes := decoded.Meshes(t)
	maps.Copy(meshes, map[string]*mesh.Mesh{
		"cube": box(1, 1, 1), "box 1": box(1, 1, 1.01), "box 2": box(1, 1.01, 1.01), "box 3": box(2, 3, 5),
		"box 4":  box(2, 3, 5.02),
		"sphere": decoded.Sphere(t, 3000),
		"points": {Unit: 1, Cloud: true, Positions: box(1, 1, 1).Weld().Positions},
	})
	described := make(map[string]Facts)
	for name, m := range meshes {
		// the glTF samples contain the same box in many variants
		if m.Format != mesh.GLTF && m.Format != mesh.GLB {
			described[name] = of(t, m)
		}
	}
	for a, f := range described {
		for b, g := range described {
			if a >= b {
				continue
			}
			want := same[path.Base(a)] != "" && same[path.Base(a)] == same[path.Base(b)]
			if got := Same(f.Descriptor, g.Descriptor); got != want {
				t.Errorf("%s and %s: same is %v, want %v:\n%v\n%v", a, b, got, want, f.Descriptor, g.Descriptor)
			}
			if want && (!sharesKey(f.Descriptor, g.Descriptor)) {
				t.Errorf("%s and %s are the same, with fingerprints %s and %s, keys %v and %v", a, b, f.Fingerprint, g.Fingerprint,
					f.Keys, g.Keys)
			}
			if !want && f.Fingerprint == g.Fingerprint && !strings.HasPrefix(a, "box") {
				t.Errorf("%s and %s differ, with the fingerprint %s", a, b, f.Fingerprint)
			}
		}
	}
}

func TestMirrored(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	scrap := &mesh.Mesh{Unit: 1}
	for range 90 {
		scrap.Positions = append(scrap.Positions, rng.Float32())
	}
	// It is symmetric under a half turn around z, but not its own mirror image. The vector of third
	// moments is along z.
	propeller := &mesh.Mesh{Unit: 1}
	for _, sign := range []float32{1, -1} {
		for _, p := range [][3]float32{{0, 0, 0}, {3, 0.5, 0.3}, {3, -0.5, -0.3}} {
			propeller.Positions = append(propeller.Positions, sign*p[0], sign*p[1], p[2])
		}
	}
	for _, c := range []struct {
		name string
		mesh *mesh.Mesh
		same bool
	}{{"scrap", scrap, false}, {"propeller", propeller, false}, {"box", box(1, 2, 3), true},
		{"sphere", decoded.Sphere(t, 1000), true}} {
		if got := Same(of(t, c.mesh).Descriptor, of(t, mirrored(c.mesh)).Descriptor); got != c.same {
			t.Errorf("%s is the same as its mirror image: %v, want %v: %v", c.name, got, c.same, of(t, c.mesh).Descriptor)
		}
		f, image := of(t, c.mesh).Descriptor, of(t, mirrored(c.mesh)).Descriptor
		if !Same(mirroredNumbers(f), image) || !sharesKey(f, image) {
			t.Errorf("%s has the mirror image %v by its numbers, and %v", c.name, mirroredNumbers(f), image)
		}
		if got := of(t, mirrored(mirrored(c.mesh))); !Same(of(t, c.mesh).Descriptor, got.Descriptor) {
			t.Errorf("%s mirrored twice is another: %v", c.name, got.Descriptor)
		}
	}
}

// TestMirroredConversion compares a model with its mirrored conversion from OBJ to STL.
func TestMirroredConversion(t *testing.T) {
	meshes := decoded.Meshes(t)
	a, b := meshes["obj/spider/spider.obj"], meshes["stl/assimp_Spider_ascii.stl"]
	if a == nil || b == nil {
		t.Skip("the whole set of test data is not here")
	}
	f, g := of(t, a).Descriptor, of(t, b).Descriptor
	if Same(f, g) || !Same(f, mirroredNumbers(g)) || !sharesKey(f, g) {
		t.Errorf("one is not the mirror image of the other:\n%v\n%v", f, g)
	}
}

// TestKeys checks the guarantee of Keys for random descriptors.
func TestKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		a, b := make(Descriptor, numbers), make(Descriptor, numbers)
		for i := range a {
			a[i] = rng.NormFloat64() * 3
			b[i] = a[i] + (2*rng.Float64()-1)*Tolerance*0.999999
			if rng.IntN(3) == 0 { // on a border of one key
				border := (math.Round(a[i]/keyBin) + 0.5 - float64(rng.IntN(keys))/keys) * keyBin
				a[i], b[i] = border-Tolerance*0.4999, border+Tolerance*0.4999
			}
		}
		a[kind], b[kind] = 1, 1
		if !Same(a, b) || !sharesKey(a, b) {
			t.Fatalf("no shared key:\n%v\n%v", a, b)
		}
	}
	if Same(nil, nil) || Descriptor(nil).Keys() != nil || Descriptor(nil).Fingerprint() != "" {
		t.Error("nothing is the same as nothing")
	}
}
