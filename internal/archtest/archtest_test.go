// Package archtest tests the architecture: imports go in one direction, cmd → rest → graph → models
// → internal, and some folders must not import some libraries.
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

// allowed lists, for each top-level folder, the top-level folders it may import.
var allowed = map[string][]string{
	"bench":    {"bench", "cmd", "rest", "graph", "models", "internal"},
	"test":     {"test", "cmd", "rest", "graph", "models", "internal"},
	"cmd":      {"cmd", "rest", "graph", "models", "internal"},
	"rest":     {"rest", "graph", "internal"},
	"graph":    {"graph", "models", "internal"},
	"models":   {"models", "internal"},
	"internal": {"internal", "testdata"},
}

// rule forbids the packages of a folder to import some libraries, with their subpackages.
type rule struct {
	folder    string
	libraries []string
	// transitive extends the rule to every package of this module that the folder imports, directly
	// or not. What libraries import among themselves does not count: the AWS SDK imports net/http.
	transitive bool
}

var rules = []rule{
	{folder: "rest", libraries: []string{"github.com/uptrace/bun", "database/sql"}},
	{folder: "graph", libraries: []string{"github.com/uptrace/bun", "database/sql"}},
	{folder: "models", libraries: []string{"net/http", "github.com/99designs/gqlgen", "github.com/vektah/gqlparser"},
		transitive: true},
	{folder: "internal/mesh", libraries: []string{"net/http", "database/sql", "github.com/uptrace/bun"}, transitive: true},
}

// imports maps each package of the module to what it imports directly.
type imports map[string][]string

func load(t *testing.T) imports {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := imports{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p.Imports
	}
}

func TestImports(t *testing.T) {
	all := load(t)
	for _, top := range []string{"cmd", "rest", "graph", "models", "internal"} {
		if !slices.ContainsFunc(slices.Collect(keys(all)), func(p string) bool { return within(p, module+top) }) {
			t.Errorf("go list shows no package below %s", top)
		}
	}
	for _, violation := range violations(all) {
		t.Error(violation)
	}
}

func keys(all imports) func(func(string) bool) {
	return func(yield func(string) bool) {
		for p := range all {
			if !yield(p) {
				return
			}
		}
	}
}

// within reports whether path is folder or below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// violations returns a message for each import that is not allowed, with the chain of imports that
// leads to it.
func violations(all imports) (found []string) {
	for _, p := range slices.Sorted(keys(all)) {
		from := strings.TrimPrefix(p, module)
		top, _, _ := strings.Cut(from, "/")
		for _, path := range all[p] {
			rest, ours := strings.CutPrefix(path, module)
			to, _, _ := strings.Cut(rest, "/")
			if ours && !slices.Contains(allowed[top], to) {
				found = append(found, from+" imports "+rest+": "+top+" may import only "+strings.Join(allowed[top], ", "))
			}
		}
		for _, r := range rules {
			if !within(p, module+r.folder) {
				continue
			}
			for _, library := range r.libraries {
				if chain := all.chain(p, library, r.transitive); chain != nil {
					found = append(found, r.folder+" must not import "+library+": "+strings.Join(chain, " → "))
				}
			}
		}
	}
	return found
}

// chain returns the shortest chain of imports from package p to the library, nil if there is none.
// Its inner links are packages of this module.
func (all imports) chain(p, library string, transitive bool) []string {
	before := map[string]string{p: ""}
	for queue := []string{p}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, next := range all[at] {
			if within(next, library) {
				chain := []string{next}
				for ; at != ""; at = before[at] {
					chain = append(chain, strings.TrimPrefix(at, module))
				}
				slices.Reverse(chain)
				return chain
			}
			if _, seen := before[next]; transitive && !seen && strings.HasPrefix(next, module) {
				before[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

func TestViolationsAreFound(t *testing.T) {
	const m = module
	for name, c := range map[string]struct {
		all  imports
		want string
	}{
		"models imports graph": {imports{m + "models": {m + "graph"}},
			"models imports graph: models may import only models, internal"},
		"rest imports models": {imports{m + "rest": {m + "models"}},
			"rest imports models: rest may import only rest, graph, internal"},
		"internal imports models": {imports{m + "internal/jobs": {m + "models"}},
			"internal/jobs imports models: internal may import only internal, testdata"},
		"graph imports Bun": {imports{m + "graph": {"github.com/uptrace/bun/dialect"}},
			"graph must not import github.com/uptrace/bun: graph → github.com/uptrace/bun/dialect"},
		"models imports net/http": {imports{m + "models": {"net/http"}},
			"models must not import net/http: models → net/http"},
		"models imports net/http through two packages": {
			imports{m + "models": {m + "internal/a", "os"}, m + "internal/a": {m + "internal/b"},
				m + "internal/b": {m + "internal/a", "net/http"}},
			"models must not import net/http: models → internal/a → internal/b → net/http"},
		"graph imports Bun through models, which is allowed": {
			imports{m + "graph": {m + "models"}, m + "models": {"github.com/uptrace/bun"}}, ""},
	} {
		if got := strings.Join(violations(c.all), "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestOnlyClientIPReadsAddresses checks that the address of a client is taken from the connection
// and from proxy headers in one package, which knows the trusted proxies.
func TestOnlyClientIPReadsAddresses(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			within(path, filepath.Join(root, "internal", "clientip")) {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), ".RemoteAddr") || strings.Contains(string(text), "X-Forwarded-For\")") {
			t.Errorf("%s reads the address of a client: use internal/clientip", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOnlyCommandsUseAdmin checks that code that serves requests cannot skip the checks of the
// caller: models.Admin has none.
func TestOnlyCommandsUseAdmin(t *testing.T) {
	for _, layer := range []string{"graph", "rest", "internal"} {
		root := filepath.Join("..", "..", layer)
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if strings.Contains(string(text), ".Admin()") || strings.Contains(string(text), "models.Admin") {
				t.Errorf("%s uses models.Admin, which checks no caller", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
