// Package archtest holds the test of the one direction in which imports run: cmd → rest → graph → models → internal.
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/meshyard/meshyard/"

// allowed says what each top-level folder may import of the module.
var allowed = map[string][]string{
	"bench":    {"bench", "cmd", "rest", "graph", "models", "internal"},
	"cmd":      {"cmd", "rest", "graph", "models", "internal"},
	"rest":     {"rest", "graph", "internal"},
	"graph":    {"graph", "models", "internal"},
	"models":   {"models", "internal"},
	"internal": {"internal"},
}

// forbidden says which packages from elsewhere a folder must know nothing of.
var forbidden = map[string][]string{
	"rest":   {"github.com/uptrace/bun", "database/sql"},
	"graph":  {"github.com/uptrace/bun", "database/sql"},
	"models": {"net/http", "github.com/99designs/gqlgen", "github.com/vektah/gqlparser"},
	// Meshes are read and drawn by code that knows neither rows nor requests.
	"internal/mesh": {"net/http", "database/sql", "github.com/uptrace/bun"},
}

type imports struct {
	ImportPath string
	Imports    []string
}

func TestImportsRunOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := make(map[string]bool)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p imports
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, fault := range faults(p) {
			t.Error(fault)
		}
		top, _, _ := strings.Cut(strings.TrimPrefix(p.ImportPath, module), "/")
		seen[top] = true
	}
	for _, top := range []string{"cmd", "rest", "graph", "models", "internal"} {
		if !seen[top] {
			t.Errorf("go list shows no package below %s", top)
		}
	}
}

func faults(p imports) (found []string) {
	place := strings.TrimPrefix(p.ImportPath, module)
	top, _, _ := strings.Cut(place, "/")
	for _, path := range p.Imports {
		if rest, ours := strings.CutPrefix(path, module); ours {
			to, _, _ := strings.Cut(rest, "/")
			if !slices.Contains(allowed[top], to) {
				found = append(found, place+" imports "+rest+": "+top+" may import "+strings.Join(allowed[top], ", "))
			}
			continue
		}
		for folder, names := range forbidden {
			if place != folder && !strings.HasPrefix(place, folder+"/") {
				continue
			}
			for _, name := range names {
				if path == name || strings.HasPrefix(path, name+"/") {
					found = append(found, place+" imports "+path+", of which "+folder+" must know nothing")
				}
			}
		}
	}
	return found
}

func TestFaultsAreFound(t *testing.T) {
	for name, p := range map[string]imports{
		"models must not know graph": {module + "models", []string{module + "graph"}},
		"rest must not skip graph":   {module + "rest", []string{module + "models"}},
		"internal must not look up":  {module + "internal/jobs", []string{module + "models"}},
		"graph must hold no SQL":     {module + "graph", []string{"github.com/uptrace/bun/dialect"}},
		"models must not know HTTP":  {module + "models", []string{"net/http"}},
	} {
		if len(faults(p)) != 1 {
			t.Errorf("%s: got faults %q", name, faults(p))
		}
	}
}

// Where a request comes from is told in one place, which knows of proxies.
func TestOnePackageReadsAddresses(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, filepath.Join("..", "..", "internal", "client")) {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), ".RemoteAddr") || strings.Contains(string(text), "X-Forwarded-For\")") {
			t.Errorf("%s reads the address of a client: internal/client tells it", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
