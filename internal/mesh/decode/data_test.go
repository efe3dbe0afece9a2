package decode

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

type reader func(context.Context, Source, mesh.Limits, func(float64)) (*mesh.Mesh, error)

// testedReader gives the reader of a format that is tested here, nil of others.
func testedReader(format string) reader {
	return map[string]reader{"obj": readOBJ, "3mf": read3MF, "amf": readAMF}[format]
}

// readBytes reads a file that is in memory.
func readBytes(t testing.TB, read reader, b []byte) (*mesh.Mesh, error) {
	t.Helper()
	m, err := read(context.Background(), source(b), mesh.DefaultLimits, nil)
	if err == nil {
		checkSound(t, m)
	}
	return m, err
}

// source is a file in memory.
func source(b []byte) Source { return Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b))} }

// checkSound sees that a mesh holds what its documentation says.
func checkSound(t testing.TB, m *mesh.Mesh) {
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
func checkReason(t testing.TB, err error, reason mesh.Reason, part string) {
	t.Helper()
	var e *mesh.Error
	if !errors.As(err, &e) || e.Reason != reason || !strings.Contains(e.Message, part) {
		t.Errorf("got the error %v, want one that is %q and has %q", err, reason, part)
	}
}

// dataFolder is where the whole set of test data is, or skips the test.
func dataFolder(t testing.TB) string {
	t.Helper()
	for _, dir := range []string{os.Getenv("MESHYARD_TEST_DATA"), "../../../../shared/data"} {
		if _, err := os.Stat(filepath.Join(dir, "meshes", "MANIFEST.csv")); dir != "" && err == nil {
			return dir
		}
	}
	t.Skip("the whole set of test data is not here")
	return ""
}

// rows gives the lines of a table by the names of their columns.
func rows(t testing.TB, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := csv.NewReader(f)
	table.FieldsPerRecord = -1 // empty ones may be left out at the end
	all, err := table.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, r := range all[1:] {
		row := map[string]string{}
		for i, column := range all[0] {
			row[column] = r[i]
		}
		out = append(out, row)
	}
	return out
}

func TestManifest(t *testing.T) {
	dir := filepath.Join(dataFolder(t), "meshes")
	units := map[string]float64{"unstated": 1, "millimeter": 1, "inch": 25.4}
	for _, row := range rows(t, filepath.Join(dir, "MANIFEST.csv")) {
		read := testedReader(row["format"])
		if read == nil || row["kind"] != "mesh" {
			continue
		}
		t.Run(filepath.Base(row["file"]), func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(dir, row["file"]))
			if err != nil {
				t.Fatal(err)
			}
			m, err := readBytes(t, read, b)
			if row["triangles"] == "0" {
				checkReason(t, err, mesh.Empty, "beam")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strconv.Itoa(m.Triangles()); got != row["triangles"] {
				t.Errorf("got %s triangles, want %s", got, row["triangles"])
			}
			if m.Unit != units[row["unit"]] {
				t.Errorf("got a unit of %v mm, want %s", m.Unit, row["unit"])
			}
			box := m.Box()
			for i, axis := range []string{"x", "y", "z"} {
				lo, _ := strconv.ParseFloat(row["min_"+axis], 64)
				hi, _ := strconv.ParseFloat(row["max_"+axis], 64)
				if slack := 1e-4 * box.Diagonal(); math.Abs(box.Min[i]-lo) > slack || math.Abs(box.Max[i]-hi) > slack {
					t.Errorf("%s is from %v to %v, want %v to %v", axis, box.Min[i], box.Max[i], lo, hi)
				}
			}
		})
	}
}
