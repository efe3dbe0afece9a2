package server

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestReservedNamesOfClient checks that the gallery client has the same reserved names: it must
// load the paths of the server, and show the pages of all other users.
func TestReservedNamesOfClient(t *testing.T) {
	source, err := os.ReadFile("../../../web/src/router.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(source), "const reserved = `")
	list, _, _ := strings.Cut(rest, "`")
	if got := strings.Fields(list); !slices.Equal(got, reservedNames) {
		t.Errorf("web/src/router.ts: got %q\nwant %q", got, reservedNames)
	}
}
