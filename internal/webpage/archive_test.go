package webpage

import "testing"

// TestFileName checks that names of files in archives, and of archives, contain neither folders nor
// characters that disguise the extension, and are allowed on Windows.
func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"Gear Ü.stl": "Gear Ü.stl", "../../a.stl": "_.._a.stl", `a\b:c*?"<>|.stl`: "a_b_c______.stl", " .stl. ": "stl", "...": "file", "": "file",
		"a\r\n\x7f\u0085b": "a____b", "photo\u202egpj.exe": "photo_gpj.exe", "\u2066a\u2069\u200fb": "_a__b",
		"CON": "CON_", "nul.stl": "nul_.stl", "Com1 .tar.gz": "Com1_ .tar.gz", "lpt¹.x": "lpt¹_.x", "console.stl": "console.stl", "my con.stl": "my con.stl",
	} {
		if got := fileName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
