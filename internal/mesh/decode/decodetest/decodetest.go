package decodetest

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
)

type Decoder func(context.Context, source.Source, mesh.Limits, func(float64)) (*mesh.Mesh, error)

// readBytes reads a file that is in memory.
func Decode(t testing.TB, read Decoder, b []byte) (*mesh.Mesh, error) {
	t.Helper()
	m, err := read(context.Background(), Source(b), mesh.DefaultLimits, nil)
	if err == nil {
		CheckMesh(t, m)
	}
	return m, err
}

// source is a file in memory.
func Source(b []byte) source.Source {
	return source.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

// checkSound sees that a mesh holds what its documentation says.
func CheckMesh(t testing.TB, m *mesh.Mesh) {
	t.Helper()
	if len(m.Positions)%3 != 0 || len(m.Indices)%3 != 0 || m.Colors != nil && len(m.Colors) != 4*m.Vertices() {
		t.Fatalf("%d positions, %d indices, %d colours", len(m.Positions), len(m.Indices), len(m.Colors))
	}
	if m.Cloud != (m.Triangles() == 0) || m.Vertices() == 0 {
		t.Fatalf("%d triangles, %d vertices, cloud: %v", m.Triangles(), m.Vertices(), m.Cloud)
	}
	for _, x := range m.Positions {
		if y := float64(x); math.IsNaN(y) || math.IsInf(y, 0) {
			t.Fatalf("a position is %v", x)
		}
	}
	for _, v := range m.Indices {
		if int(v) >= m.Vertices() {
			t.Fatalf("index %d of %d vertices", v, m.Vertices())
		}
	}
}

// checkReason sees that an error is one that is told to the user, and why.
func CheckError(t testing.TB, err error, reason mesh.Reason, part string) {
	t.Helper()
	var e *mesh.Error
	if !errors.As(err, &e) || e.Reason != reason || !strings.Contains(e.Message, part) {
		t.Errorf("got the error %v, want one that is %q and has %q", err, reason, part)
	}
}

// DataFolder returns the folder of the complete test data, and skips the test where it is missing.
func DataFolder(t testing.TB) string {
	t.Helper()
	dir, ok := meshtest.Folder(t)
	if !ok {
		t.Skip("the complete test data is missing")
	}
	return dir
}

// fuzzLimits are small, so that what they do not stop is soon seen.
var fuzzLimits = mesh.Limits{Bytes: 1 << 20, Inflated: 1 << 20, Triangles: 1000, Depth: 16, Elements: 200}

// fuzz sees that a reader gives a sound mesh or an error that can be told to the user, whatever it reads.
func Fuzz(f *testing.F, format string, read Decoder) {
	dirs := []string{"../../../../testdata/meshes"}
	if dir := os.Getenv("MESHYARD_TEST_DATA"); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "malformed"), filepath.Join(dir, "meshes", format), filepath.Join(dir, "meshes", "other"))
	}
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(dir, "*."+format))
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			if b, err := os.ReadFile(name); err == nil && len(b) < 16<<10 {
				f.Add(b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		FuzzOne(t, b, read)
	})
}

func FuzzOne(t *testing.T, b []byte, read Decoder) {
	m, err := read(context.Background(), Source(b), fuzzLimits, nil)
	var told *mesh.Error
	switch {
	case err == nil:
		CheckMesh(t, m)
		if n := int64(m.Triangles()); n > fuzzLimits.Triangles {
			t.Errorf("got %d triangles", n)
		}
	case !errors.As(err, &told):
		t.Errorf("the error is none for the user: %v", err)
	}
}

// checked is a reader as Read calls it.
func Validated(format mesh.Format, read Decoder) Decoder {
	return func(ctx context.Context, src source.Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
		m, err := read(ctx, src, limits, func(done float64) {
			if progress != nil {
				progress(done)
			}
		})
		if err == nil {
			err = geometry.Validate(m, format.Title(), limits)
		}
		if err != nil {
			return nil, err
		}
		return m, nil
	}
}

// grid gives the vertices and triangles of a wavy sheet of n by n squares, as formats of three numbers say; vertices are counted from first.
func Grid(n, first int, vertex, triangle string) (vertices, triangles string) {
	var v, f strings.Builder
	for y := range n + 1 {
		for x := range n + 1 {
			fmt.Fprintf(&v, vertex, float64(x)/7, float64(y)/7, math.Sin(float64(x*y)/1000))
		}
	}
	for y := range n {
		for x := range n {
			a := first + y*(n+1) + x
			fmt.Fprintf(&f, triangle, a, a+1, a+n+2)
			fmt.Fprintf(&f, triangle, a, a+n+2, a+n+1)
		}
	}
	return v.String(), f.String()
}

func Benchmark(b *testing.B, read Decoder, file []byte, unpacked int) {
	b.SetBytes(int64(unpacked))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(b, read, file); err != nil {
			b.Fatal(err)
		}
	}
}

// zipped packs files.
func ZIP(t testing.TB, files map[string]string) []byte { return ZIPWith(t, zip.Deflate, files) }

func ZIPWith(t testing.TB, method uint16, files map[string]string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func DecodeText(t *testing.T, read Decoder, text string) *mesh.Mesh {
	t.Helper()
	m, err := Decode(t, read, []byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return m
}

// allocated gives the bytes that f allocates.
func AllocatedBytes(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// readFile decodes a file in memory as Decode does: the mesh must pass Validate.
func DecodeFile(t testing.TB, format mesh.Format, read Decoder, b []byte, limits mesh.Limits) (*mesh.Mesh, error) {
	t.Helper()
	m, err := Validated(format, read)(context.Background(), Source(b), limits, nil)
	if err == nil {
		CheckMesh(t, m)
	}
	return m, err
}
