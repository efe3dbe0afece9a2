package draco_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
	"github.com/meshyard/meshyard/internal/mesh/decode/draco"
	"github.com/meshyard/meshyard/internal/mesh/decode/stl"
)

// The unique IDs of the attributes in testdata, if there are normals.
const (
	idNormal = iota
	idPosition
	idCoords
	idColor
	idJoints
	idWeights
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func limits() *draco.Limits { return &draco.Limits{Triangles: 10_000, Bytes: 1 << 24} }

// float returns component i of an attribute of floats.
func float(a draco.Attribute, i int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(a.Values[4*i:])))
}

// key identifies a vertex of the original mesh by its position, whose coordinates are multiples of
// 0.001 that differ by more than the error of quantization.
func key(p [3]float64) string { return fmt.Sprintf("%.2f %.2f %.2f", p[0]+1e-9, p[1]+1e-9, p[2]+1e-9) }

// triangleKey identifies a triangle by its vertices, of which any can be the first.
func triangleKey(corners [3]string) string {
	first := 0
	for k := range corners {
		if corners[k] < corners[first] {
			first = k
		}
	}
	return strings.Join([]string{corners[first], corners[(first+1)%3], corners[(first+2)%3]}, ", ")
}

// original returns the triangles of the mesh that was encoded, and its vertices.
func original(t testing.TB, copies int) (triangles []string, vertices map[string][3]float64) {
	b, err := os.ReadFile("../../../../testdata/meshes/numpystl_HalfDonut_bin.stl")
	if err != nil {
		t.Fatal(err)
	}
	m, err := decodetest.Decode(t, decodetest.Validated(mesh.STL, stl.Decode), b)
	if err != nil {
		t.Fatal(err)
	}
	vertices = map[string][3]float64{}
	for i := range copies {
		for k := range m.Triangles() {
			var corners [3]string
			a, b, c := m.Corners(k)
			for j, v := range []uint32{a, b, c} {
				at := m.At(v)
				p := [3]float64{float64(at[0]) + 4*float64(i), float64(at[1]), float64(at[2])}
				corners[j] = key(p)
				vertices[corners[j]] = p
			}
			triangles = append(triangles, triangleKey(corners))
		}
	}
	slices.Sort(triangles)
	return triangles, vertices
}

// TestDecode compares meshes of all codings to the mesh that was encoded.
func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name   string
		copies int
		points int // as the official decoder counts them
		all    bool
		most   float64 // error
	}{
		{"sequential.drc", 1, 176, true, 2e-4},
		{"sequential_exact.drc", 1, 144, false, 0},
		{"standard.drc", 1, 144, false, 1e-4},
		{"standard_attributes.drc", 1, 176, true, 2e-4},
		{"single_connectivity.drc", 1, 176, true, 1e-3},
		{"valence.drc", 4, 576, false, 2e-3},
		{"valence_attributes.drc", 4, 704, true, 6e-4},
	} {
		t.Run(c.name, func(t *testing.T) {
			position, wanted := uint32(0), []uint32{0, 77}
			if c.all {
				position, wanted = idPosition, []uint32{idPosition, idCoords, idColor, idJoints, idWeights}
			}
			m, err := draco.Decode(context.Background(), read(t, c.name), wanted, limits())
			if err != nil {
				t.Fatal(err)
			}
			if want := len(wanted); c.all && len(m.Attributes) != want || !c.all && len(m.Attributes) != 1 {
				t.Errorf("got %d attributes of %d", len(m.Attributes), want)
			}
			if m.Points != c.points {
				t.Errorf("got %d points, want %d", m.Points, c.points)
			}
			want, vertices := original(t, c.copies)
			points := make([][3]float64, m.Points) // the original positions
			for i := range points {
				at := m.Attributes[position]
				p := [3]float64{float(at, 3*i), float(at, 3*i+1), float(at, 3*i+2)}
				points[i] = nearest(t, vertices, p, c.most)
			}
			var got []string
			for i := range m.Triangles {
				var corners [3]string
				for k := range corners {
					corners[k] = key(points[binary.LittleEndian.Uint32(m.Indices[12*i+4*k:])])
				}
				got = append(got, triangleKey(corners))
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got other triangles than were encoded: %d of %d", len(got), len(want))
			}
			if c.all {
				checkAttributes(t, m, points, c.most)
			}
		})
	}
}

// nearest returns the vertex that is nearest to p, which can be at most the given distance away.
func nearest(t *testing.T, vertices map[string][3]float64, p [3]float64, most float64) (best [3]float64) {
	t.Helper()
	least := math.Inf(1)
	for _, v := range vertices {
		if d := max(math.Abs(v[0]-p[0]), math.Abs(v[1]-p[1]), math.Abs(v[2]-p[2])); d < least {
			least, best = d, v
		}
	}
	if least > most {
		t.Errorf("got the position %v, %g from the next vertex", p, least)
	}
	return best
}

// checkAttributes checks the attributes, which follow from the positions. The error of texture
// coordinates is relative to their range of 7.
func checkAttributes(t *testing.T, m *draco.Mesh, points [][3]float64, most float64) {
	t.Helper()
	charts := make([]float64, m.Points)
	for i, p := range points {
		copies := math.Floor((p[0] + 0.1) / 4)
		x := p[0] - 4*copies
		coords := m.Attributes[idCoords]
		charts[i] = math.Round((float(coords, 2*i) - x) / 4)
		if u, v := float(coords, 2*i)-4*charts[i], float(coords, 2*i+1); math.Abs(u-x) > 2*most ||
			math.Abs(v-p[2]) > 2*most || charts[i] < 0 || charts[i] > 1 {
			t.Fatalf("got the texture coordinates %v %v in the chart %v at %v", u, v, charts[i], p)
		}
		color := []byte{byte(x * 80), byte(p[1] * 80), byte(p[2] * 80), 255}
		if got := m.Attributes[idColor].Values[4*i:][:4]; !bytes.Equal(got, color) {
			t.Fatalf("got the color %d at %v, want %d", got, p, color)
		}
		for k, want := range []float64{copies, copies + 1, 0, 300} {
			if got := binary.LittleEndian.Uint16(m.Attributes[idJoints].Values[8*i+2*k:]); float64(got) != want {
				t.Fatalf("got the joint %d in place %d at %v", got, k, p)
			}
		}
		for k, want := range []float64{0.75, 0.25, 0, 0} {
			if got := float(m.Attributes[idWeights], 4*i+k); math.Abs(got-want) > most {
				t.Fatalf("got the weight %v in place %d at %v", got, k, p)
			}
		}
	}
	count := 0
	for i := range m.Triangles {
		a, b, c := m.Indices[12*i:], m.Indices[12*i+4:], m.Indices[12*i+8:]
		chart := charts[binary.LittleEndian.Uint32(a)]
		if charts[binary.LittleEndian.Uint32(b)] != chart || charts[binary.LittleEndian.Uint32(c)] != chart {
			t.Fatalf("triangle %d has corners of two charts", i)
		}
		count += int(chart)
	}
	if count == 0 || count == m.Triangles {
		t.Error("all triangles are in one chart")
	}
}

// TestSkip checks that an attribute has the same values if others are skipped.
func TestSkip(t *testing.T) {
	for _, name := range []string{"sequential.drc", "standard_attributes.drc", "single_connectivity.drc",
		"valence_attributes.drc"} {
		b := read(t, name)
		all, err := draco.Decode(context.Background(), b, []uint32{idPosition, idCoords, idColor, idJoints, idWeights},
			limits())
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range all.Attributes {
			m, err := draco.Decode(context.Background(), b, []uint32{id}, limits())
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Attributes[id]; len(m.Attributes) != 1 || !bytes.Equal(got.Values, want.Values) ||
				!bytes.Equal(m.Indices, all.Indices) {
				t.Errorf("%s: attribute %d differs if the others are skipped", name, id)
			}
		}
	}
}

// TestCut checks that each shorter file is malformed.
func TestCut(t *testing.T) {
	for _, name := range []string{"sequential.drc", "sequential_exact.drc", "standard.drc", "standard_attributes.drc",
		"valence.drc"} {
		b := read(t, name)
		id := uint32(idWeights)
		if !strings.Contains(name, "attributes") && name != "sequential.drc" {
			id = 0
		}
		for n := range len(b) {
			_, err := draco.Decode(context.Background(), b[:n], []uint32{id}, limits())
			var told *mesh.Error
			if !errors.As(err, &told) || told.Reason != mesh.Malformed {
				t.Errorf("%s: the first %d bytes of %d: got the error %v", name, n, len(b), err)
				break
			}
		}
	}
}

func TestRefused(t *testing.T) {
	change := func(name string, at int, to ...byte) []byte {
		b := slices.Clone(read(t, name))
		copy(b[at:], to)
		return b
	}
	fans := change("standard.drc", 12, 0xD5) // more vertices, and another symbol
	fans[37] = 0x5C
	for name, c := range map[string]struct {
		file   []byte
		limits draco.Limits
		reason mesh.Reason
		part   string
	}{
		"other data": {[]byte("OBJ is not Draco"), *limits(), mesh.Malformed, "does not begin with DRACO"},
		"version 2.1": {change("standard.drc", 5, 2, 1), *limits(), mesh.Unsupported,
			"is of version 2.1, and only version 2.2"},
		"a point cloud":            {change("standard.drc", 7, 0), *limits(), mesh.Unsupported, "point cloud"},
		"an unknown coding":        {change("standard.drc", 8, 2), *limits(), mesh.Malformed, "unknown coding"},
		"the predictive traversal": {change("standard.drc", 11, 1), *limits(), mesh.Unsupported, "predictive edgebreaker"},
		"an unknown traversal": {change("standard.drc", 11, 3), *limits(), mesh.Malformed,
			"unknown kind of edgebreaker"},
		"many vertices": {change("standard.drc", 12, 0xFF, 0x7F), *limits(), mesh.Malformed,
			"more vertices than corners"},
		"many triangles": {read(t, "standard.drc"), draco.Limits{Triangles: 287, Bytes: 1 << 24}, mesh.TooLarge,
			"has 288 triangles, where at most 287 more"},
		"many triangles, in order": {read(t, "sequential.drc"), draco.Limits{Triangles: 287, Bytes: 1 << 24}, mesh.TooLarge,
			"has 288 triangles, where at most 287 more"},
		"little memory": {read(t, "standard.drc"), draco.Limits{Triangles: 288, Bytes: 12_000}, mesh.TooLarge,
			"too much memory"},
		"little memory, in order": {read(t, "sequential.drc"), draco.Limits{Triangles: 288, Bytes: 3_000}, mesh.TooLarge,
			"too much memory"},
		"many vertices, in order": {read(t, "sequential.drc"), draco.Limits{Triangles: 58, Bytes: 1 << 24}, mesh.TooLarge,
			"has 176 vertices, where at most 174 more"},
		"a vertex that is lost": {change("sequential_exact.drc", 16, 200), *limits(), mesh.Malformed,
			"vertex that does not exist"},
		"a vertex of two fans": {fans, *limits(), mesh.Malformed, "vertices whose triangles are not adjacent"},
		"a number without an end": {change("standard.drc", 12, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
			0xFF), *limits(), mesh.Malformed, "more than 64 bits"},
		"a number of too many bits": {change("standard.drc", 12, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F), *limits(), mesh.Malformed,
			"more than 31 bits"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := draco.Decode(context.Background(), c.file, []uint32{0}, &c.limits)
			t.Log(err)
			decodetest.CheckError(t, err, c.reason, c.part)
		})
	}
	_, err := draco.Decode(context.Background(), read(t, "sequential.drc"), []uint32{idNormal}, limits())
	decodetest.CheckError(t, err, mesh.Unsupported, "normals")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := draco.Decode(ctx, read(t, "standard.drc"), []uint32{0}, limits()); err != context.Canceled {
		t.Errorf("canceled: got the error %v", err)
	}
}

// FuzzDecode checks that Decode returns a mesh whose indices and attributes are complete, or a
// *mesh.Error, and stays within its limits.
func FuzzDecode(f *testing.F) {
	names, err := filepath.Glob("testdata/*.drc")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l := draco.Limits{Triangles: 2000, Bytes: 1 << 20}
		m, err := draco.Decode(context.Background(), b, []uint32{0, idPosition, idCoords, idColor, idJoints, idWeights}, &l)
		var told *mesh.Error
		switch {
		case errors.As(err, &told):
			return
		case err != nil:
			t.Fatalf("the error is none for the user: %v", err)
		}
		if len(m.Indices) != 12*m.Triangles || m.Triangles > 2000 {
			t.Errorf("got %d bytes of indices for %d triangles", len(m.Indices), m.Triangles)
		}
		for i := 0; i < len(m.Indices); i += 4 {
			if v := binary.LittleEndian.Uint32(m.Indices[i:]); int64(v) >= int64(m.Points) {
				t.Fatalf("got the index %d of %d points", v, m.Points)
			}
		}
		sizes := map[uint8]int{draco.Int8: 1, draco.Uint8: 1, draco.Int16: 2, draco.Uint16: 2, draco.Int32: 4,
			draco.Uint32: 4, draco.Float32: 4}
		for id, a := range m.Attributes {
			if want := m.Points * a.Width * sizes[a.Type]; len(a.Values) != want || sizes[a.Type] == 0 {
				t.Errorf("got %d bytes for attribute %d, want %d", len(a.Values), id, want)
			}
		}
	})
}
