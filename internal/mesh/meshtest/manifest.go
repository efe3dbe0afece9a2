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

// Row is a file of the test data and what is known of it.
type Row struct {
	Name      string // in its folder, with slashes
	Path      string // where it can be read
	Format    string // its ending, of other uploads than meshes too
	Kind      string // mesh, companion, non-mesh or unsupported-extension; "" of malformed files
	Triangles int    // -1 where the file is no mesh
	Box       mesh.Box
	Unit      string // unstated, millimeter, inch or metre; "" where the file is no mesh
	Notes     string // what is special, or what is wrong
	Expected  string // of malformed files: what is to come of it
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

// Meshes gives the uploads of the whole set, and where it is not here those of testdata/meshes.
func Meshes(t testing.TB) []Row {
	t.Helper()
	dir, ok := Folder(t)
	if !ok {
		dir = filepath.Join(root(), "testdata")
	}
	return rows(t, filepath.Join(dir, "meshes"))
}

// Malformed gives the broken and hostile files of the whole set, and none where it is not here.
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
		if len(line) > len(names) { // rows of what is no mesh have an empty field too many before their notes
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
		Name: column["file"], Path: filepath.Join(dir, filepath.FromSlash(column["file"])), Format: column["format"], Kind: column["kind"],
		Triangles: -1, Unit: column["unit"], Notes: column["notes"] + column["what_is_wrong"], Expected: column["expected"],
	}
	if r.Kind != "mesh" {
		return r
	}
	number := func(name string) float64 {
		x, err := strconv.ParseFloat(strings.TrimSpace(column[name]), 64)
		if err != nil {
			t.Fatalf("%s of %s is no number: %v", name, r.Name, err)
		}
		return x
	}
	r.Triangles = int(number("triangles"))
	r.Box.Min = [3]float64{number("min_x"), number("min_y"), number("min_z")}
	r.Box.Max = [3]float64{number("max_x"), number("max_y"), number("max_z")}
	return r
}

// CheckBox reports an error where got differs from want by more than a ten-thousandth of its diagonal.
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
