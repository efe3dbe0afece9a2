// Package decodetest provides what the tests of the mesh decoders share.
package decodetest

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
)

// Decoder is the type of the Decode functions of the format packages.
type Decoder func(context.Context, source.Source, mesh.Limits, func(float64)) (*mesh.Mesh, error)

// Decode decodes a file in memory with the default limits and checks the mesh.
func Decode(t testing.TB, read Decoder, b []byte) (*mesh.Mesh, error) {
	t.Helper()
	m, err := read(context.Background(), Source(b), mesh.DefaultLimits, nil)
	if err == nil {
		CheckMesh(t, m)
	}
	return m, err
}

// Source returns a source of a file in memory.
func Source(b []byte) source.Source {
	return source.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

// CheckMesh fails the test if the mesh violates what package mesh documents.
func CheckMesh(t testing.TB, m *mesh.Mesh) {
	t.Helper()
	if len(m.Positions)%3 != 0 || len(m.Indices)%3 != 0 || m.Colors != nil && len(m.Colors) != 4*m.Vertices() {
		t.Fatalf("%d positions, %d indices, %d colors", len(m.Positions), len(m.Indices), len(m.Colors))
	}
	if m.Cloud != (m.Triangles() == 0) || m.Vertices() == 0 {
		t.Fatalf("%d triangles, %d vertices, cloud: %v", m.Triangles(), m.Vertices(), m.Cloud)
	}
	for _, x := range m.Positions {
		if y := float64(x); math.IsNaN(y) || math.IsInf(y, 0) {
			t.Fatalf("a position is %v", x)
		}
	}
	last := -1
	for _, p := range m.Patches {
		if p.Triangle <= last || p.Triangle >= m.Triangles() || p.Texture == nil || p.Texture.Image == nil {
			t.Fatalf("patch of triangle %d after %d, of %d triangles, with the texture %v", p.Triangle, last, m.Triangles(),
				p.Texture)
		}
		last = p.Triangle
	}
	for _, v := range m.Indices {
		if int(v) >= m.Vertices() {
			t.Fatalf("index %d of %d vertices", v, m.Vertices())
		}
	}
}

// CheckError fails the test if err is not a *mesh.Error with this reason and a message that
// contains part.
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

// fuzzLimits are small, so that exceeding them is found fast.
var fuzzLimits = mesh.Limits{Bytes: 1 << 20, Inflated: 1 << 20, Triangles: 1000, Textures: 1 << 20, Depth: 16,
	Elements: 200}

// Fuzz checks that a decoder returns a valid mesh or a *mesh.Error for any input. The seeds are the
// small test files with the given extension.
func Fuzz(f *testing.F, format string, read Decoder) {
	dirs := []string{"../../../../testdata/meshes"}
	if dir := os.Getenv("MESHYARD_TEST_DATA"); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "malformed"), filepath.Join(dir, "meshes", format),
			filepath.Join(dir, "meshes", "other"))
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

// FuzzOne checks that a decoder returns a valid mesh or a *mesh.Error for b.
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

// Validated wraps a decoder so that it validates the mesh, as decode.Decode does.
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

// Grid returns the vertices and triangles of a wavy surface of n by n squares, formatted with the
// given formats of three numbers. first is the number of the first vertex.
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

// Benchmark measures decoding of a file. unpacked is the size of its content after decompression.
func Benchmark(b *testing.B, read Decoder, file []byte, unpacked int) {
	b.SetBytes(int64(unpacked))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(b, read, file); err != nil {
			b.Fatal(err)
		}
	}
}

// ZIP returns an archive of the files, compressed.
func ZIP(t testing.TB, files map[string]string) []byte { return ZIPWith(t, zip.Deflate, files) }

// ZIPWith returns an archive of the files, in the order of their names, compressed by method.
func ZIPWith(t testing.TB, method uint16, files map[string]string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
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

// DecodeText decodes a text file and fails the test if that fails.
func DecodeText(t *testing.T, read Decoder, text string) *mesh.Mesh {
	t.Helper()
	m, err := Decode(t, read, []byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return m
}

// AllocatedBytes returns how many bytes f allocates.
func AllocatedBytes(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// DecodeFile decodes a file in memory and validates the mesh.
func DecodeFile(t testing.TB, format mesh.Format, read Decoder, b []byte, limits mesh.Limits) (*mesh.Mesh, error) {
	t.Helper()
	m, err := Validated(format, read)(context.Background(), Source(b), limits, nil)
	if err == nil {
		CheckMesh(t, m)
	}
	return m, err
}
