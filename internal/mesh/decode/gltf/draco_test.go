package gltf

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

// dracoFile returns a GLB file with a Draco file of draco/testdata. node is the node of the mesh,
// and more are members of its primitive.
func dracoFile(t testing.TB, name, node, more string, members ...string) []byte {
	t.Helper()
	b, err := os.ReadFile("../draco/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	accessor := func(kind component, normalized bool, of string) string {
		return fmt.Sprintf(`{"componentType":%d,"normalized":%v,"count":704,"type":%q}`, kind, normalized, of)
	}
	accessors := []string{accessor(float32s, false, "VEC3"), accessor(float32s, false, "VEC2"),
		accessor(uint8s, true, "VEC4"),
		accessor(uint16s, false, "VEC4"), accessor(float32s, false, "VEC4"),
		`{"componentType":5125,"count":3456,"type":"SCALAR"}`}
	return glbOf(gltfOf(append([]string{
		`"extensionsRequired":["KHR_draco_mesh_compression"]`,
		`"nodes":[` + node + `]`,
		`"meshes":[{"primitives":[{"attributes":{"POSITION":0,"TEXCOORD_0":1,"COLOR_0":2,"JOINTS_0":3,"WEIGHTS_0":4},"indices":5,` +
			`"extensions":{"KHR_draco_mesh_compression":{"bufferView":0,"attributes":{"POSITION":1,"TEXCOORD_0":2,"COLOR_0":3,"JOINTS_0":4,"WEIGHTS_0":5}}}` + more + `}]}]`,
		`"accessors":[` + strings.Join(accessors, ",") + `]`,
		fmt.Sprintf(`"bufferViews":[{"buffer":0,"byteLength":%d}],"buffers":[{"byteLength":%d}]`, len(b), len(b)),
	}, members...)...), b)
}

// TestGLTFDraco checks the positions, colors and texture coordinates of compressed meshes, which
// follow from each other.
func TestGLTFDraco(t *testing.T) {
	texture := []string{`"materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}}}]`,
		fmt.Sprintf(textured(t), wrapRepeat)}
	skin := []string{`"skins":[{"joints":[1,2,3,4,5]}]`}
	nodes := `{"mesh":0,"skin":0}`
	for i := range 5 {
		nodes += fmt.Sprintf(`,{"translation":[0,0,%d]}`, 10*i)
	}
	for name, c := range map[string]struct {
		file    []byte
		top     float64 // of the box
		patches int
	}{
		"colors":  {dracoFile(t, "valence_attributes.drc", `{"mesh":0}`, ""), 3, 0},
		"a strip": {dracoFile(t, "valence_attributes.drc", `{"mesh":0}`, `,"mode":5`), 3, 0},
		"without indices": {bytes.Replace(dracoFile(t, "valence_attributes.drc", `{"mesh":0}`, ""), []byte(`"indices":5`),
			[]byte(`"extras":5 `), 1), 3, 0},
		"a texture": {dracoFile(t, "valence_attributes.drc", `{"mesh":0}`, `,"material":0`, texture...), 3, 1152},
		"joints":    {dracoFile(t, "valence_attributes.drc", nodes, "", skin...), 3 + 32.5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := decodetest.Decode(t, decodetest.Validated(mesh.GLB, Decode), c.file)
			if err != nil {
				t.Fatal(err)
			}
			if m.Triangles() != 1152 || len(m.Patches) != c.patches {
				t.Fatalf("got %d triangles and %d patches", m.Triangles(), len(m.Patches))
			}
			box := m.Box()
			for k, want := range [3]float64{15, 0.5, c.top} {
				if math.Abs(box.Max[k]-want) > 0.01 {
					t.Errorf("got the box %v, want the top %v", box, c.top)
				}
			}
			for v := range uint32(m.Vertices()) {
				x := math.Mod(float64(m.At(v)[0])+0.001, 4)
				// Colors in the file are linear.
				if got, want := mesh.Linear[m.Colors[4*v]]*255, math.Floor(x*80); c.patches == 0 && math.Abs(got-want) > 2 {
					t.Fatalf("got the red %v of vertex %d, want %v", got, v, want)
				}
			}
			for _, p := range m.Patches {
				a, b, c := m.Corners(p.Triangle)
				for k, v := range []uint32{a, b, c} {
					at := m.At(v)
					if u := math.Mod(float64(p.UV[k][0])+0.001, 4) - math.Mod(float64(at[0])+0.001, 4); math.Abs(u) > 0.002 ||
						math.Abs(float64(p.UV[k][1]-float32(at[2]))) > 0.002 {
						t.Fatalf("got the texture coordinates %v at %v", p.UV[k], at)
					}
				}
			}
		})
	}
}

// TestGLTFDracoReal decodes a file of another program, and the uncompressed data if there are some.
func TestGLTFDracoReal(t *testing.T) {
	m := decodeBox(t, "gltftransform_BoxDraco.glb")
	if m.Triangles() != 12 || m.Colors == nil {
		t.Errorf("got %d triangles and %d colors", m.Triangles(), len(m.Colors))
	}
	m, err := decodetest.Decode(t, Decode, gltfOf(oneNode,
		`"meshes":[{"primitives":[{"attributes":{"POSITION":0},"extensions":{"KHR_draco_mesh_compression":{"bufferView":9,"attributes":{"POSITION":0}}}}]}]`,
		`"accessors":[`+floats3+`]`, gltfBytes(corner)))
	if err != nil || m.Triangles() != 1 {
		t.Errorf("uncompressed data: got %v", err)
	}
}

// TestGLTFDracoNormalized decodes positions that are normalized integers, by the accessor or, if
// that has floats, by the Draco attribute.
func TestGLTFDracoNormalized(t *testing.T) {
	for name, c := range map[string]struct {
		kind                component
		accessor, attribute bool
		want                float32
	}{
		"by the accessor":  {uint8s, true, false, 1},
		"by the attribute": {float32s, false, true, 1},
		"not":              {uint8s, false, true, 255},
	} {
		t.Run(name, func(t *testing.T) {
			b := []byte("DRACO\x02\x02\x01\x00\x00\x00" + "\x01\x03\x01\x00\x01\x02" + "\x01\x01\x00\x02\x03\x00\x00\x00" +
				"\x00\x00\x00\xFF\x00\x00\x00\xFF\x00")
			if c.attribute {
				b[22] = 1
			}
			m, err := decodetest.Decode(t, Decode, gltfOf(oneNode,
				`"meshes":[{"primitives":[{"attributes":{"POSITION":0},"extensions":{"KHR_draco_mesh_compression":{"bufferView":0,"attributes":{"POSITION":0}}}}]}]`,
				fmt.Sprintf(`"accessors":[{"componentType":%d,"normalized":%v,"count":3,"type":"VEC3"}]`, c.kind, c.accessor),
				gltfBytes(b)))
			if err != nil {
				t.Fatal(err)
			}
			if want := []float32{0, 0, 0, c.want, 0, 0, 0, c.want, 0}; !slices.Equal(m.Positions, want) {
				t.Errorf("got %v, want %v", m.Positions, want)
			}
		})
	}
}

func TestGLTFDracoRefused(t *testing.T) {
	good := dracoFile(t, "valence_attributes.drc", `{"mesh":0}`, "")
	change := func(from, to string) []byte {
		if len(from) != len(to) || !bytes.Contains(good, []byte(from)) {
			t.Fatalf("%q cannot be replaced by %q", from, to)
		}
		return bytes.Replace(good, []byte(from), []byte(to), 1)
	}
	for name, c := range map[string]struct {
		file   []byte
		reason mesh.Reason
		part   string
	}{
		"points": {dracoFile(t, "valence_attributes.drc", `{"mesh":0}`, `,"mode":0`), mesh.Malformed,
			"primitive 0 of mesh 0, which has the mode 0"},
		"a buffer view that is lost": {change(`"bufferView":0,"attributes"`, `"bufferView":7,"attributes"`), mesh.Malformed,
			"buffer view 7"},
		"an attribute that is lost": {change(`"attributes":{"POSITION":1`, `"attributes":{"POSITION":8`), mesh.Malformed,
			"without the attribute 8"},
		"an attribute of another type": {change(`"attributes":{"POSITION":1`, `"attributes":{"POSITION":2`), mesh.Malformed,
			"2 components of the type 9 for accessor 0"},
		"an accessor that is lost":    {change(`"COLOR_0":2`, `"COLOR_0":9`), mesh.Malformed, "accessor 9"},
		"an accessor of another type": {change(`"COLOR_0":2`, `"COLOR_0":1`), mesh.Malformed, "for accessor 1"},
		"another version": {change("DRACO\x02\x02", "DRACO\x02\x01"), mesh.Unsupported,
			"The GLB file has Draco data in primitive 0 of mesh 0 that is of version 2.1"},
		"other data": {change("DRACO", "draco"), mesh.Malformed, "that does not begin with DRACO"},
		"half of it": {dracoCut(t, good), mesh.Malformed, "that ends too early"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodetest.Decode(t, Decode, c.file)
			t.Log(err)
			decodetest.CheckError(t, err, c.reason, c.part)
		})
	}
	limits := mesh.DefaultLimits
	limits.Triangles = 1151
	decodetest.CheckError(t, decodeWithin(t, good, limits), mesh.TooLarge,
		"has 1152 triangles, where at most 1151 more are read")
	limits = mesh.DefaultLimits
	limits.Inflated = 50_000
	decodetest.CheckError(t, decodeWithin(t, good, limits), mesh.TooLarge, "needs too much memory")
	limits = mesh.DefaultLimits
	limits.Triangles = 1152
	if err := decodeWithin(t, good, limits); err != nil {
		t.Errorf("as many triangles as allowed: got the error %v", err)
	}
}

// TestGLTFDracoMemory checks that the memory for Draco data depends on the number of triangles.
func TestGLTFDracoMemory(t *testing.T) {
	for _, c := range []struct{ triangles, inflated, want int64 }{
		{10_000, 1 << 30, 1_200_000 + 1<<20}, {10_000_000, 1 << 30, 1 << 30}, {10_000, 1000, 1000},
	} {
		if got := compressedLimits(mesh.Limits{Triangles: c.triangles, Inflated: c.inflated}).Bytes; got != c.want {
			t.Errorf("%d triangles, %d bytes inflated: got %d bytes, want %d", c.triangles, c.inflated, got, c.want)
		}
	}
}

func decodeWithin(t *testing.T, file []byte, limits mesh.Limits) error {
	t.Helper()
	_, err := Decode(t.Context(), decodetest.Source(file), limits, nil)
	return err
}

// dracoCut returns the file with a shorter buffer view.
func dracoCut(t *testing.T, file []byte) []byte {
	t.Helper()
	i := bytes.Index(file, []byte(`"bufferViews":[{"buffer":0,"byteLength":`))
	at := i + bytes.IndexByte(file[i:], '6') // the length is 6412
	if i < 0 || string(file[at:at+4]) != "6412" {
		t.Fatal("another length")
	}
	cut := bytes.Clone(file)
	copy(cut[at:], "2000")
	return cut
}
