package archive

import (
	"strings"
	"testing"
)

func TestStoredName(t *testing.T) {
	for name, want := range map[string]string{
		"Bär.stl":                         "Bär.stl",
		`12" rail: 1/2\3.stl`:             "12_ rail_ 1_2_3.stl",
		"..":                              "file",
		"dots. .":                         "dots",
		"a\x00b\n.stl":                    "a_b_.stl",
		strings.Repeat("ä", 120) + ".stl": strings.Repeat("ä", 98) + ".stl",
	} {
		if got := storedName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
