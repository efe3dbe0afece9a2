package facts

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

var vertexLine = regexp.MustCompile(`(?m)^\s*vertex\s+(\S+)\s+(\S+)\s+(\S+)`)

// readSTL reads what the tests need.
func readSTL(t testing.TB, path string) *mesh.Mesh {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := &mesh.Mesh{Format: mesh.STL, Unit: 1}
	if len(raw) >= 84 && int(binary.LittleEndian.Uint32(raw[80:])) == (len(raw)-84)/50 {
		for at := 84; at+50 <= len(raw); at += 50 {
			for i := range 9 {
				m.Positions = append(m.Positions, math.Float32frombits(binary.LittleEndian.Uint32(raw[at+12+4*i:])))
			}
		}
		return m
	}
	for _, line := range vertexLine.FindAllSubmatch(bytes.ToLower(raw), -1) {
		for _, s := range line[1:] {
			x, err := strconv.ParseFloat(string(s), 32)
			if err != nil {
				t.Fatal(err)
			}
			m.Positions = append(m.Positions, float32(x))
		}
	}
	return m
}

// realSTL gives the real meshes by name.
func realSTL(t testing.TB) map[string]*mesh.Mesh {
	folder := os.Getenv("MESHYARD_TEST_DATA")
	if folder == "" {
		folder = "../../../../shared/data"
	}
	paths, _ := filepath.Glob(filepath.Join(folder, "meshes/stl/*"))
	if len(paths) == 0 {
		paths, _ = filepath.Glob("../../../testdata/meshes/[hn]*.stl")
	}
	meshes := make(map[string]*mesh.Mesh)
	for _, p := range paths {
		if m := readSTL(t, p); m.Triangles() > 0 {
			meshes[filepath.Base(p)] = m
		}
	}
	if len(meshes) < 3 {
		t.Fatalf("%d meshes found", len(meshes))
	}
	return meshes
}

// moved gives the mesh scaled, turned at random, and moved by up to a few diagonals, as soup or indexed, triangles in another order. All is
// rounded to the digits that an ASCII file may have.
func moved(m *mesh.Mesh, rng *rand.Rand, digits int) *mesh.Mesh {
	size := m.Box().Diagonal()
	scale := math.Exp(rng.Float64()*10-5) / size
	turn := rotation(rng)
	var shift [3]float64
	for i := range shift {
		shift[i] = (rng.Float64() - 0.5) * 2 * scale * size
	}
	out := &mesh.Mesh{Unit: 1, Cloud: m.Cloud}
	put := func(v uint32) {
		p := m.At(v)
		for _, row := range turn {
			x := scale*(row[0]*float64(p[0])+row[1]*float64(p[1])+row[2]*float64(p[2])) + shift[len(out.Positions)%3]
			x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
			out.Positions = append(out.Positions, float32(x))
		}
	}
	if m.Cloud {
		for _, v := range rng.Perm(m.Vertices()) {
			put(uint32(v))
		}
		return out
	}
	for _, i := range rng.Perm(m.Triangles()) {
		a, b, c := m.Corners(i)
		for range rng.IntN(3) {
			a, b, c = b, c, a
		}
		put(a)
		put(b)
		put(c)
	}
	if rng.IntN(2) == 0 {
		return out.Weld()
	}
	return out
}

// rotation gives a proper rotation, made of a random quaternion.
func rotation(rng *rand.Rand) matrix {
	var q [4]float64
	norm := 0.0
	for i := range q {
		q[i] = rng.NormFloat64()
		norm += q[i] * q[i]
	}
	for i := range q {
		q[i] /= math.Sqrt(norm)
	}
	w, x, y, z := q[0], q[1], q[2], q[3]
	return matrix{
		{1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y)},
		{2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x)},
		{2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y)},
	}
}
