package printer_test

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/printer"
)

// TestRemoteName checks that names on printers are short and have only plain characters.
func TestRemoteName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Benchy 0.2mm.gcode": "Benchy-0-2mm-tok.gcode", "ümläut \"x\".GCODE": "ml-ut--x-tok.gcode",
		"../../etc/passwd.gcode": "etc-passwd-tok.gcode",
		"":                       "print-tok", "日本.bgcode": "print-tok.bgcode", strings.Repeat("a", 200) +
			".g": strings.Repeat("a", 60) + "-tok.g",
	} {
		if got := printer.RemoteName(name, "tok"); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	for _, c := range []struct {
		kind  printer.Kind
		name  string
		takes bool
	}{{printer.OctoPrint, "a.GCODE", true}, {printer.OctoPrint, "a.bgcode", false}, {printer.PrusaLink, "a.bgcode", true},
		{printer.Moonraker, "a.gcode.3mf", false}, {printer.Moonraker, "a.stl", false}} {
		if err := c.kind.Takes(c.name); (err == nil) != c.takes {
			t.Errorf("%s, %s: %v", c.kind, c.name, err)
		}
	}
}
