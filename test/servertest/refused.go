package servertest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// What systems can refuse to tests.
const (
	// Mounts needs CAP_SYS_ADMIN or user namespaces, and a root directory that is a mount point.
	Mounts = "mounts"
	// UserNamespaces are off in some kernels, chroots and containers.
	UserNamespaces = "user-namespaces"
	// Gmsh is the program that converts CAD files.
	Gmsh = "gmsh"
)

// Refused skips a test because the system refuses something that the test needs. It fails the test
// if MESHYARD_TEST_REQUIRED, a list separated by spaces, contains the name of it: the tests in
// .ci/run must not be skipped where the system allows them.
func Refused(t *testing.T, name string, why error) {
	t.Helper()
	if slices.Contains(strings.Fields(os.Getenv("MESHYARD_TEST_REQUIRED")), name) {
		t.Fatalf("MESHYARD_TEST_REQUIRED contains %s, but this system refuses them: %v", name, why)
	}
	t.Skipf("this system refuses %s: %v", name, why)
}
