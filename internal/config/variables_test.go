package config

import (
	"os"
	"os/exec"
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
	known := []string{"MESHYARD_ANONYMOUS_READ", "MESHYARD_HARDENED", "MESHYARD_DATA", "MESHYARD_DATABASE_URL", "MESHYARD_IMPORT_TOKEN"}
	for variable, want := range map[string]string{
		"MESHYARD_HARDENE=true":              "MESHYARD_HARDENE is unknown and has no effect: did you mean MESHYARD_HARDENED?",
		"MESHYARD_DATABSE_URL=x":             "did you mean MESHYARD_DATABASE_URL?",
		"MESHYARD_NO_ANONYMOUS_READ=1":       "set MESHYARD_ANONYMOUS_READ=false",
		"MESHYARD_XYZZY=1":                   "MESHYARD_XYZZY is unknown and has no effect: meshyard serve --help lists",
		"MESHYARD_HARDENED=true":             "",
		"MESHYARD_IMPORT_TOKEN=x":            "",
		"MESHYARD_TEST_POSTGRES=postgres://": "",
		"MESHYARD_KILLS=50":                  "",
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
	out, err := exec.Command("git", "-C", root, "ls-files").Output()
	if err != nil {
		t.Skip("git ls-files: ", err)
	}
	document, err := os.ReadFile(filepath.Join(root, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`\bMESHYARD_[A-Z][A-Z_]*[A-Z]\b`)
	known := append(name.FindAllString(string(document), -1), "MESHYARD_IMPORT_TOKEN")
	var used []string
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		if strings.HasPrefix(path, "internal/config/variables") || path == "cmd/meshyard/cli_test.go" {
			continue // misspelt names
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			continue // deleted and not committed
		}
		used = append(used, name.FindAllString(string(text), -1)...)
	}
	slices.Sort(used)
	for _, warning := range UnknownVariables(slices.Compact(used), known) {
		t.Error(warning)
	}
	if len(used) < 100 {
		t.Errorf("found %d variables only", len(used))
	}
}
