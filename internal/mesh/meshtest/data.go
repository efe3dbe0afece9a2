// Package meshtest finds the real and the hostile models that the packages of meshes are tested with, and makes large ones.
package meshtest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Variable names the folder of the whole set of test data, which holds meshes/MANIFEST.csv and malformed/MANIFEST.csv.
const Variable = "MESHYARD_TEST_DATA"

// Folder gives the folder of the whole set: that which the environment names, else ../shared/data beside the module where it is there.
// A folder that the environment names and that is not one fails the test.
func Folder(t testing.TB) (dir string, ok bool) {
	t.Helper()
	if dir = os.Getenv(Variable); dir != "" {
		if !isSet(dir) {
			t.Fatalf("%s is %q, where there is no meshes/MANIFEST.csv", Variable, dir)
		}
		return dir, true
	}
	dir = filepath.Join(root(), "..", "shared", "data")
	return dir, isSet(dir)
}

func isSet(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "meshes", manifest))
	return err == nil
}

// root is the folder of the module.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}
