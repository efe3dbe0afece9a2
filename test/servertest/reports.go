package servertest

import (
	"encoding/csv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh/meshtest"
)

// Report returns the path of a file of testdata/reports.
func Report(name string) string {
	return filepath.Join(meshtest.Root(), "testdata", "reports", filepath.FromSlash(name))
}

// CheckReports fails a test that does not have a case for each file for which
// testdata/reports/MANIFEST.csv names the test.
func CheckReports[V any](t *testing.T, cases map[string]V) {
	t.Helper()
	f, err := os.Open(Report("MANIFEST.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range rows {
		if row[3] == t.Name() {
			names = append(names, row[0])
		}
	}
	slices.Sort(names)
	if got := slices.Sorted(maps.Keys(cases)); !slices.Equal(got, names) {
		t.Errorf("the cases are %q, and MANIFEST.csv has %q", got, names)
	}
}
