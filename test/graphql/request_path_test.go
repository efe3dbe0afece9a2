package graphql_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meshyard/meshyard/test/servertest"
)

// maxFunctions is how many functions of this module a request for a file may pass from the socket
// to the statement.
const maxFunctions = 25

// TestRequestPath checks that docs/architecture.md lists the functions that a request for a file
// passes, in order: those on the stack while the statement runs.
func TestRequestPath(t *testing.T) {
	want := documentedPath(t)
	if len(want) == 0 || len(want) > maxFunctions {
		t.Errorf("docs/architecture.md lists %d functions, want at most %d", len(want), maxFunctions)
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		id := ada.Upload("part.stl", servertest.Cube(10, 12))
		var mu sync.Mutex
		var got []string
		s.OnStatement(func(string, time.Duration, error) {
			if path := pathToHere(); slices.Contains(path, "rest.serve") && slices.Contains(path, "models.FilesByID") {
				mu.Lock()
				defer mu.Unlock()
				got = path
			}
		})
		if r := ada.Get(fmt.Sprint("/files/", id)); r.StatusCode != http.StatusOK {
			t.Fatal(r.Status)
		}
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(got, want) {
			t.Errorf("passed\n%s\ndocs/architecture.md lists\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// documentedPath returns the functions in the table of docs/architecture.md, without receivers.
func documentedPath(t *testing.T) (functions []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| \\d+ \\| `(\\w+\\.[^`]+)`").FindAllStringSubmatch(string(page), -1) {
		functions = append(functions, shortName(row[1]))
	}
	return functions
}

// shortName returns the package and the name of a function without its receiver.
func shortName(function string) string {
	pkg, _, _ := strings.Cut(function, ".")
	return pkg + function[strings.LastIndexByte(function, '.'):]
}

var (
	// inner is the end of the name of a function literal, after the function that contains it.
	inner = regexp.MustCompile(`(\.func\d+|\.gowrap\d+|\.\d+|-range\d+)+$`)
	// generated is a function literal in the table of package exec.
	generated = regexp.MustCompile(`exec\.init\.func\d+`)
)

// pathToHere returns the functions of this module on the stack of a statement, from the outermost
// to the one that runs the statement. A function literal counts as the function that contains it.
func pathToHere() (path []string) {
	_, here, _, _ := runtime.Caller(0)
	module := filepath.Dir(filepath.Dir(filepath.Dir(here))) + string(filepath.Separator)
	pcs := make([]uintptr, 200)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	seen := make(map[string]bool)
	var names []string
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		// An inlined literal has the name of the function into which it was inlined, but its own file.
		if !strings.HasPrefix(frame.File, module) || strings.HasSuffix(frame.File, "_test.go") ||
			strings.HasSuffix(frame.Function, ".done") {
			continue
		}
		pkg := filepath.Base(filepath.Dir(frame.File))
		function := strings.ReplaceAll(frame.Function[strings.LastIndexByte(frame.Function, '/')+1:], "[...]", "")
		name := generated.FindString(function)
		if name == "" {
			function = inner.ReplaceAllString(function, "")
			name = pkg + function[strings.LastIndexByte(function, '.'):]
		}
		names = append(names, name)
	}
	for _, name := range slices.Backward(names) {
		if !seen[name] {
			seen[name] = true
			path = append(path, shortName(generated.ReplaceAllString(name, "exec.init")))
		}
	}
	return path
}
