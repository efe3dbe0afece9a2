package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestUnknownVariables checks that misspelt variables are reported with the nearest known one, and
// that known ones, and those of the tests and of Kubernetes, are not.
func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	known := []string{"MESHYARD_ANONYMOUS_READ", "MESHYARD_HARDENED", "MESHYARD_DATA", "MESHYARD_DATABASE_URL",
		"MESHYARD_IMPORT_TOKEN"}
	for variable, want := range map[string]string{
		"MESHYARD_HARDENE=true":              "MESHYARD_HARDENE is unknown and has no effect: did you mean MESHYARD_HARDENED?",
		"MESHYARD_DATABSE_URL=x":             "did you mean MESHYARD_DATABASE_URL?",
		"MESHYARD_NO_ANONYMOUS_READ=1":       "set MESHYARD_ANONYMOUS_READ=false",
		"MESHYARD_XYZZY=1":                   "MESHYARD_XYZZY is unknown and has no effect: meshyard serve --help lists",
		"MESHYARD_HARDENED=true":             "",
		"MESHYARD_IMPORT_TOKEN=x":            "",
		"MESHYARD_TEST_POSTGRES=postgres://": "",
		"MESHYARD_SERVICE_PORT_HTTP=80":      "",
		"MESHYARD_PORT=tcp://10.0.0.1:80":    "",
		"MESHYARD_PORT_8080_TCP_ADDR=x":      "",
		"PATH=/bin":                          "",
	} {
		got := strings.Join(UnknownVariables([]string{variable}, known), "\n")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", variable, got, want)
		}
	}
}

// TestUsedVariablesAreKnown checks that no variable in the files of the repository is reported as
// unknown.
func TestUsedVariablesAreKnown(t *testing.T) {
	t.Parallel()
	const root = "../.."
	document, err := os.ReadFile(filepath.Join(root, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`\bMESHYARD_[A-Z][A-Z_]*[A-Z]\b`)
	known := append(name.FindAllString(string(document), -1), "MESHYARD_IMPORT_TOKEN")
	var used []string
	for _, folder := range []string{"bench", "cmd", "deploy", "docs", "examples", "graph", "internal", "models", "rest"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.Name() == "node_modules" {
				return filepath.SkipDir
			}
			if strings.HasPrefix(entry.Name(), "variables") || entry.Name() == "cli_test.go" || !entry.Type().IsRegular() {
				return nil // misspelt names, or no file
			}
			text, err := os.ReadFile(path)
			used = append(used, name.FindAllString(string(text), -1)...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(used)
	for _, warning := range UnknownVariables(slices.Compact(used), known) {
		t.Error(warning)
	}
	if len(used) < 100 {
		t.Errorf("found %d variables only", len(used))
	}
}
