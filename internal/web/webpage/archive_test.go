package webpage

import (
	"strings"
	"testing"
)

// TestFileName checks that names of files in archives, and of archives, contain neither folders nor
// characters that disguise the extension, and are allowed on Windows.
func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"Gear Ü.stl": "Gear Ü.stl", "../../a.stl": "_.._a.stl", `a\b:c*?"<>|.stl`: "a_b_c______.stl", " .stl. ": "stl",
		"...": "file", "": "file",
		"a\r\n\x7f\u0085b": "a____b", "photo\u202egpj.exe": "photo_gpj.exe", "\u2066a\u2069\u200fb": "_a__b",
		"CON": "CON_", "nul.stl": "nul_.stl", "Com1 .tar.gz": "Com1_ .tar.gz", "lpt¹.x": "lpt¹_.x",
		"console.stl": "console.stl", "my con.stl": "my con.stl",
	} {
		if got := fileName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// TestUniqueNames checks that a name that is made unique has at most 255 bytes.
func TestUniqueNames(t *testing.T) {
	t.Parallel()
	long, plain := strings.Repeat("€", 83)+".3mf", strings.Repeat("x", 255)
	taken := map[string]bool{}
	for _, c := range []struct{ name, want string }{
		{"a.stl", "files/a.stl"}, {"A.stl", "files/A (2).stl"}, {"a.stl", "files/a (3).stl"},
		{long, "files/" + long}, {long, "files/" + strings.Repeat("€", 82) + " (2).3mf"},
		{plain, "files/" + plain}, {plain, "files/" + plain[:251] + " (2)"},
		{"con." + plain[:251], "files/con_." + plain[:250]},
	} {
		if got := unique(taken, "files", c.name); got != c.want {
			t.Errorf("%.20q of %d bytes: got %q, want %q", c.name, len(c.name), got, c.want)
		}
	}
}
