// Package meshtest provides the real and malformed models that the mesh packages are tested with,
// and generates large ones.
package meshtest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Variable names the environment variable with the folder of the complete test data, which contains
// meshes/MANIFEST.csv and malformed/MANIFEST.csv.
const Variable = "MESHYARD_TEST_DATA"

// Folder returns the folder of the complete test data: that of the environment variable, otherwise
// ../shared/data beside the module if it exists. It fails the test if the variable names a folder
// without the data.
func Folder(t testing.TB) (dir string, ok bool) {
	t.Helper()
	if dir = os.Getenv(Variable); dir != "" {
		if !isSet(dir) {
			t.Fatalf("%s is %q, where there is no meshes/MANIFEST.csv", Variable, dir)
		}
		return dir, true
	}
	dir = filepath.Join(Root(), "..", "shared", "data")
	return dir, isSet(dir)
}

func isSet(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "meshes", manifest))
	return err == nil
}

// Root returns the folder of the module. Tests run in the folder of their package, so it is the
// nearest parent with a go.mod. The path that runtime.Caller reports is not one with -trimpath.
var Root = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			panic("meshtest: no go.mod above the working directory")
		}
		dir = parent
	}
})
