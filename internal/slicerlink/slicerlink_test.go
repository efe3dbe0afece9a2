package slicerlink

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/links.txt")

// TestLinks compares the link of each program byte for byte with testdata/links.txt.
func TestLinks(t *testing.T) {
	flash, err := Parse("FlashPrint=flashprint://open?file={url}&x=1")
	if err != nil {
		t.Fatal(err)
	}
	own, err := Parse("prusaslicer = prusaslicer://open?file={url}")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range []struct {
		programs Programs
		what     string
		name     string
		base     string
	}{
		{With(nil), "a project", "Däne & Co+1.3MF", "http://192.0.2.1:8080"},
		{With(nil), "a model on an allowed host", "box.stl", "https://files.printables.com"},
		{With(nil), "a model on an allowed host by HTTP", "box.stl", "http://printables.com"},
		{With(nil), "a model on a host with a similar name", "box.stl", "https://evilprintables.com"},
		{With(nil), "G-code", "box.gcode", "https://example.org"},
		{With(nil), "a file without an extension", "box", "https://example.org"},
		{With([]Program{flash, own, {Name: "Cura"}, {Name: "unknown"}}), "with changes of the operator", "box.stl",
			"https://example.org"},
	} {
		fmt.Fprintf(&b, "# %s\n", c.what)
		for _, link := range c.programs.For(c.name, c.base+"/blobs/open/42.7.a-b_c/"+strings.ReplaceAll(c.name, " ", "%20")) {
			fmt.Fprintf(&b, "%s %v\n  %s\n", link.App, link.OS, link.URL)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/links.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/links.txt")
	if err != nil || b.String() != string(want) {
		t.Errorf("got\n%s\nwant (%v)\n%s", b.String(), err, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"program://open?file={url}":            "NAME=TEMPLATE",
		"=x://{url}":                           "NAME=TEMPLATE",
		strings.Repeat("x", 41) + "=x://{url}": "40 characters",
		"X=x://open":                           "{url} once",
		"X=x://{url}/{url}":                    "{url} once",
		"X={url}":                              "a URL with a scheme",
		"X=x://\"{url}":                        "a URL with a scheme",
		"X=JavaScript:alert('{url}')":          "the scheme javascript is not allowed",
		"X=data:text/html,{url}":               "the scheme data is not allowed",
	} {
		if p, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v, want an error with %q", text, p, err, want)
		}
	}
}
