package decode

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
)

// readNamed decodes a file in memory of any format and checks the mesh.
func readNamed(t testing.TB, name string, b []byte, limits mesh.Limits) (*mesh.Mesh, error) {
	t.Helper()
	m, err := Decode(context.Background(), source.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: name},
		limits, nil)
	if err == nil {
		decodetest.CheckMesh(t, m)
	}
	return m, err
}

// TestReadMeshes decodes every file of the test data.
func TestReadMeshes(t *testing.T) {
	units := map[string]float64{"unstated": 1, "millimeter": 1, "inch": 25.4, "metre": 1000}
	all := meshtest.Meshes(t)
	outside := map[string]bool{} // glTF files that refer to external buffers
	for _, r := range all {
		if of, ok := strings.CutPrefix(r.Notes, "belongs to "); ok && strings.HasSuffix(of, ".gltf") {
			outside[of] = true
		}
	}
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			b := r.Bytes(t)
			var m *mesh.Mesh
			var err error
			if got, most := decodetest.AllocatedBytes(func() { m, err = readNamed(t, r.Name, b, mesh.DefaultLimits) }),
				uint64(16<<20+64*len(b)); got > most {
				t.Errorf("it allocated %d bytes, more than %d", got, most)
			}
			var told *mesh.Error
			switch {
			case err != nil && !errors.As(err, &told):
				t.Fatalf("the error is none for the user: %v", err)
			// These are meshes that the manifest lists as another kind.
			case r.Kind != "mesh" && (r.Format == "amf" || r.Format == "glb" && r.Kind == "unsupported-extension"):
			case r.Kind != "mesh" || outside[r.Name]:
				if err == nil {
					t.Errorf("a mesh of %d triangles was made of it", m.Triangles())
				}
				return
			case r.Triangles == 0 && !strings.Contains(r.Notes, "point cloud"):
				decodetest.CheckError(t, err, mesh.Empty, "")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Kind == "mesh" {
				checkRow(t, m, r, units[r.Unit])
			}
		})
	}
}

func checkRow(t *testing.T, m *mesh.Mesh, r meshtest.Row, unit float64) {
	t.Helper()
	if m.Triangles() != r.Triangles || m.Cloud != (r.Triangles == 0) {
		t.Errorf("got %d triangles (a cloud: %v), want %d", m.Triangles(), m.Cloud, r.Triangles)
	}
	if string(m.Format) != r.Format || m.Unit != unit {
		t.Errorf("got %s of a unit of %v mm, want %s and %v mm", m.Format, m.Unit, r.Format, unit)
	}
	meshtest.CheckBox(t, m.Box(), r.Box)
}

// TestReadMalformed decodes every malformed file of the test data. A few yield a mesh, the others a
// *mesh.Error. None allocates much memory.
func TestReadMalformed(t *testing.T) {
	triangles := map[string]int{"stl_count_too_small.stl": 6, "stl_nan_inf.stl": 12, "trimesh_nancolor.obj": 12,
		"obj_mtllib_traversal.obj": 12}
	rows := meshtest.Malformed(t)
	if rows == nil {
		t.Skip("the whole set of test data is not here")
	}
	for _, r := range rows {
		t.Run(r.Name, func(t *testing.T) {
			b := r.Bytes(t)
			var m *mesh.Mesh
			var err error
			if got, most := decodetest.AllocatedBytes(func() { m, err = readNamed(t, r.Name, b, mesh.DefaultLimits) }),
				uint64(4<<20+16*len(b)); got > most {
				t.Errorf("it allocated %d bytes, more than %d", got, most)
			}
			var told *mesh.Error
			switch want := triangles[r.Name]; {
			case want > 0 && (err != nil || m.Triangles() != want):
				t.Errorf("got %+v and the error %v, want %d triangles", m, err, want)
			case want == 0 && !errors.As(err, &told):
				t.Errorf("got the error %v, want one for the user", err)
			}
			t.Log(err)
		})
	}
}

// TestReadContent checks that content takes precedence over the extension, and that errors name the
// detected type of files that are not meshes.
func TestReadContent(t *testing.T) {
	data := func(name string) string {
		b, err := os.ReadFile(filepath.Join("../../../testdata/meshes", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range []struct {
		name, file string
		want       mesh.Format
	}{
		{"a.obj", data("hschendel_simple_bin.stl"), mesh.STL},
		{"a", data("hschendel_simple_bin.stl"), mesh.STL},
		{"a.STL", data("numpystl_HalfDonut_bin.stl"), mesh.STL},
		{"a.off", data("hschendel_simple_ascii.stl"), mesh.STL},
		{"a.stl", data("happly_platonic_shelf_be.ply"), mesh.PLY},
		{"a.stl", data("trimesh_comments.off"), mesh.OFF},
		{"a.stl", data("3mfsamples_box.3mf"), mesh.ThreeMF},
		{"a.stl", data("assimp_test1.amf"), mesh.AMF},
		{"a.b.OBJ", data("trimesh_polygonfaces.obj"), mesh.OBJ},
		{"folder.stl/a.obj", data("trimesh_polygonfaces.obj"), mesh.OBJ},
		{"a.off", "3 1\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", mesh.OFF},
	} {
		m, err := readNamed(t, c.name, []byte(c.file), mesh.DefaultLimits)
		if err != nil || m.Format != c.want {
			t.Errorf("%s that begins with %.20q: got %v and the error %v, want %s", c.name, c.file, m, err, c.want)
		}
	}
	for _, c := range []struct {
		name, file string
		reason     mesh.Reason
		message    string
	}{
		{"a.stl", "", mesh.Malformed, "The file is empty"},
		{"a.stl", data("lib3mf_thumbnail.png"), mesh.Malformed,
			"The extension of the file means STL, but its content looks like a PNG picture."},
		{"a.gltf", data("html_named.stl"), mesh.Malformed,
			"The extension of the file means glTF, but its content looks like a page of HTML."},
		{"a.svg", data("script.svg"), mesh.Unsupported, "The file looks like an SVG picture."},
		{"a.pdf", data("own_assembly.pdf"), mesh.Unsupported, "a PDF document"},
		{"a.step", "ISO-10303-21;\nHEADER;\n", mesh.Unsupported, "a STEP file"},
		{"a.dae", "<?xml version=\"1.0\"?>\n<COLLADA>", mesh.Unsupported, "a COLLADA file"},
		{"a.webp", "RIFF\x00\x00\x00\x00WEBPVP8 ", mesh.Unsupported, "a WebP picture"},
		{"a.txt", "hello", mesh.Unsupported, "The format of the file is not supported"},
		{"a.stl", "hello", mesh.Malformed, `ends on line 1 without a facet or "endsolid"`},
		{"a.ply", "hello\n", mesh.Malformed, "does not begin with"},
		{"a.off", "hello\n", mesh.Malformed, `"hello" where OFF`},
	} {
		_, err := readNamed(t, c.name, []byte(c.file), mesh.DefaultLimits)
		decodetest.CheckError(t, err, c.reason, c.message)
	}
}

func TestReadLimits(t *testing.T) {
	b := meshtest.SphereSTL(1000)
	limits := mesh.DefaultLimits
	limits.Bytes = int64(len(b)) - 1
	_, err := readNamed(t, "a.stl", b, limits)
	decodetest.CheckError(t, err, mesh.TooLarge, "bytes, and meshes are made of at most")
	limits.Bytes++
	if _, err := readNamed(t, "a.stl", b, limits); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Decode(ctx, source.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: "a.stl"},
		mesh.DefaultLimits, nil); err != context.Canceled {
		t.Errorf("with a context that is canceled the error is %v", err)
	}
}

// TestReadCanceled cancels the context during decoding.
func TestReadCanceled(t *testing.T) {
	for name, b := range large() {
		ctx, cancel := context.WithCancel(context.Background())
		_, err := Decode(ctx, source.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: name},
			mesh.DefaultLimits, func(float64) { cancel() })
		if err != context.Canceled {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// TestReadProgress checks that progress increases to 1.
func TestReadProgress(t *testing.T) {
	for name, b := range large() {
		last, calls := -1.0, 0
		_, err := Decode(context.Background(), source.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: name},
			mesh.DefaultLimits, func(done float64) {
				if !(done > last && done <= 1) {
					t.Errorf("%s: progress went from %v to %v", name, last, done)
				}
				last = done
				calls++
			})
		if err != nil || last != 1 || calls < 3 {
			t.Errorf("%s: got the error %v, and %d reports up to %v", name, err, calls, last)
		}
	}
}

// TestReadCutOff decodes all prefixes of small files: each yields a *mesh.Error or a mesh.
func TestReadCutOff(t *testing.T) {
	for _, r := range meshtest.Meshes(t) {
		b := r.Bytes(t)
		if len(b) > 4000 || r.Kind != "mesh" {
			continue
		}
		for n := range b {
			_, err := readNamed(t, r.Name, b[:n], mesh.DefaultLimits)
			var told *mesh.Error
			if err != nil && !errors.As(err, &told) {
				t.Fatalf("%d bytes of %s give the error %v", n, r.Name, err)
			}
		}
	}
}

// TestReadSource checks that an error of the source is not reported as an error of the file.
func TestReadSource(t *testing.T) {
	for name, b := range large() {
		for _, c := range []struct {
			src  io.ReaderAt
			want error
		}{{brokenAt{bytes.NewReader(b), int64(len(b)) * 3 / 4}, errBroken},
			{bytes.NewReader(b[:len(b)*3/4]), io.ErrUnexpectedEOF}} {
			_, err := Decode(context.Background(), source.Source{ReaderAt: c.src, Size: int64(len(b)), Name: name},
				mesh.DefaultLimits, nil)
			if !errors.Is(err, c.want) {
				t.Errorf("%s: got the error %v, want %v", name, err, c.want)
			}
		}
	}
}

// brokenAt is a reader that fails from an offset on.
type brokenAt struct {
	io.ReaderAt
	from int64
}

var errBroken = errors.New("broken")

func (b brokenAt) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) > b.from {
		return 0, errBroken
	}
	return b.ReaderAt.ReadAt(p, offset)
}

// large returns files that are longer than the blocks that decoders read.
var large = sync.OnceValue(func() map[string][]byte {
	stl := meshtest.SphereSTL(50_000)
	m, err := Decode(context.Background(), source.Source{ReaderAt: bytes.NewReader(stl), Size: int64(len(stl)),
		Name: "a.stl"}, mesh.DefaultLimits, nil)
	if err != nil {
		panic(err)
	}
	w := m.Weld()
	return map[string][]byte{"binary.stl": stl, "text.stl": textSTLOf(m), "text.ply": plyOf(w, "ascii"),
		"little.ply": plyOf(w, "binary_little_endian"), "big.ply": plyOf(w, "binary_big_endian"), "text.off": offOf(w)}
})

// TestReadSame checks that the same mesh in different formats decodes to the same triangles.
func TestReadSame(t *testing.T) {
	files := large()
	want, err := readNamed(t, "a.stl", files["binary.stl"], mesh.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range files {
		m, err := readNamed(t, name, b, mesh.DefaultLimits)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m.Triangles() != want.Triangles() {
			t.Fatalf("%s: got %d triangles, want %d", name, m.Triangles(), want.Triangles())
		}
		for i := range m.Triangles() {
			a, b, c := m.Corners(i)
			x, y, z := want.Corners(i)
			if m.At(a) != want.At(x) || m.At(b) != want.At(y) || m.At(c) != want.At(z) {
				t.Fatalf("%s: triangle %d is another one", name, i)
			}
		}
	}
}

// TestSTLAllocation checks that the STL decoder allocates the positions once and does not allocate
// for words of text.
func TestSTLAllocation(t *testing.T) {
	for _, name := range []string{"binary.stl", "text.stl"} {
		b := large()[name]
		var m *mesh.Mesh
		count := testing.AllocsPerRun(3, func() { m, _ = readNamed(t, name, b, mesh.DefaultLimits) })
		if count > 40 {
			t.Errorf("%s: %v allocations", name, count)
		}
		bytes := decodetest.AllocatedBytes(func() {
			m, _ = Decode(t.Context(), source.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: name},
				mesh.DefaultLimits, nil)
		})
		if most := uint64(5*len(m.Positions) + 3<<19); bytes > most {
			t.Errorf("%s: %d bytes for %d of positions", name, bytes, 4*len(m.Positions))
		}
	}
}
