package meshtest

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

const manifest = "MANIFEST.csv"

// Row is a file of the test data and its known properties.
type Row struct {
	Name      string // path in its folder, with slashes
	Path      string // path for reading
	Format    string // the extension, also of files that are not meshes
	Kind      string // mesh, companion, non-mesh or unsupported-extension; "" for malformed files
	Triangles int    // -1 if the file is not a mesh
	Box       mesh.Box
	Unit      string // unstated, millimeter, inch or metre; "" if the file is not a mesh
	Notes     string // what is special, or what is wrong
	Expected  string // of malformed files: the expected result
}

// Bytes reads the file.
func (r Row) Bytes(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Meshes returns the complete set of uploads, or those of testdata/meshes if it is missing.
func Meshes(t testing.TB) []Row {
	t.Helper()
	dir, ok := Folder(t)
	if !ok {
		dir = filepath.Join(Root(), "testdata")
	}
	return rows(t, filepath.Join(dir, "meshes"))
}

// Malformed returns the malformed files of the complete set, or none if it is missing.
func Malformed(t testing.TB) []Row {
	t.Helper()
	dir, ok := Folder(t)
	if !ok {
		return nil
	}
	return rows(t, filepath.Join(dir, "malformed"))
}

// rows reads the manifest of a folder.
func rows(t testing.TB, dir string) []Row {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, manifest))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := csv.NewReader(f)
	table.FieldsPerRecord = -1
	lines, err := table.ReadAll()
	if err != nil || len(lines) < 2 {
		t.Fatalf("%s has %d lines: %v", f.Name(), len(lines), err)
	}
	var out []Row
	for _, line := range lines[1:] {
		names, column := lines[0], map[string]string{}
		if len(line) > len(names) { // rows of other files have an extra empty field before the notes
			line = append(line[:len(names)-1], line[len(line)-1])
		}
		for i, value := range line {
			column[names[i]] = value
		}
		out = append(out, row(t, dir, column))
	}
	return out
}

func row(t testing.TB, dir string, column map[string]string) Row {
	t.Helper()
	r := Row{
		Name: column["file"], Path: filepath.Join(dir, filepath.FromSlash(column["file"])), Format: column["format"],
		Kind:      column["kind"],
		Triangles: -1, Unit: column["unit"], Notes: column["notes"] + column["what_is_wrong"], Expected: column["expected"],
	}
	if r.Kind != "mesh" {
		return r
	}
	number := func(name string) float64 {
		x, err := strconv.ParseFloat(strings.TrimSpace(column[name]), 64)
		if err != nil {
			t.Fatalf("%s of %s is not a number: %v", name, r.Name, err)
		}
		return x
	}
	r.Triangles = int(number("triangles"))
	r.Box.Min = [3]float64{number("min_x"), number("min_y"), number("min_z")}
	r.Box.Max = [3]float64{number("max_x"), number("max_y"), number("max_z")}
	return r
}

// CheckBox reports an error where got differs from want by more than a ten-thousandth of its
// diagonal.
func CheckBox(t testing.TB, got, want mesh.Box) {
	t.Helper()
	slack := 1e-4 * want.Diagonal()
	for i := range 3 {
		if math.Abs(got.Min[i]-want.Min[i]) > slack || math.Abs(got.Max[i]-want.Max[i]) > slack {
			t.Errorf("got the box %v, want %v", got, want)
			return
		}
	}
}
