package models

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanFilename(t *testing.T) {
	for given, want := range map[string]string{
		"a.stl": "a.stl", " a b.stl ": "a b.stl", "/etc/passwd": "passwd", `..\..\a`: "a", "a/": "", "..": "", ".": "",
		"":       "",
		"a\x00b": "", "\xff": "", "a\nb\x7f\u0085": "ab", "\u202egnp.exe": "gnp.exe", "e\u0301.stl": "e\u0301.stl",
		strings.Repeat("x", 300) + ".stl": strings.Repeat("x", 251) + ".stl",
		"a." + strings.Repeat("y", 300):   "a." + strings.Repeat("y", 253),
		strings.Repeat("€", 100) + ".3mf": strings.Repeat("€", 83) + ".3mf",
	} {
		if got, err := CleanFilename("name", given); got != want || (err != nil) != (want == "") {
			t.Errorf("cleanFilename(%q) = %q, %v; want %q", given, got, err, want)
		}
	}
}

func FuzzCleanFilename(f *testing.F) {
	for _, s := range []string{"a.stl", "../x", "a\x00", "\u202e", strings.Repeat("ä", 200)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, given string) {
		name, err := CleanFilename("name", given)
		if err != nil {
			return
		}
		if name == "" || name == "." || name == ".." || len(name) > maxFilename || !utf8.ValidString(name) ||
			strings.ContainsAny(name, "/\\\x00\n\r") {
			t.Errorf("cleanFilename(%q) = %q", given, name)
		}
		if again, err := CleanFilename("name", name); err != nil || again != strings.TrimSpace(name) {
			t.Errorf("cleanFilename(%q) = %q, and again %q, %v", given, name, again, err)
		}
	})
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		sniffed, name string
		declared      FileKind
		kind          FileKind
		contentType   string
	}{
		{"image/png", "a.stl", Model, Image, "image/png"},
		{"text/html; charset=utf-8", "a.stl", "", Model, "text/html; charset=utf-8"},
		{"application/octet-stream", "a.STL", "", Model, "model/stl"},
		{"text/plain; charset=utf-8", "a.obj", "", Model, "model/obj"},
		{"application/zip", "a.3mf", "", Model, "model/3mf"},
		{"application/zip", "a.zip", "", Model, "application/zip"},
		{"application/zip", "a.zip", Attachment, Attachment, "application/zip"},
		{"application/x-7z-compressed", "a.7Z", "", Model, "application/x-7z-compressed"},
		{"application/x-rar-compressed", "a.rar", "", Model, "application/x-rar-compressed"},
		{"application/gzip", "a.tar.gz", "", Model, "application/gzip"},
		{"image/vnd.dxf", "a.dxf", "", Model, "image/vnd.dxf"},
		{"application/octet-stream", "a.ctb", "", Model, "application/octet-stream"},
		{"application/octet-stream", "a.BGCODE", "", Model, "application/octet-stream"},
		{"application/zip", "a.FCStd", "", Model, "application/zip"},
		{"application/zip", "a.gcode.3mf", "", Model, "model/3mf"},
		{"text/tab-separated-values; charset=utf-8", "a.obj", "", Model, "model/obj"},
		{"text/csv; charset=utf-8", "a.scad", "", Model, "application/x-openscad"},
		{"text/csv; charset=utf-8", "a.csv", "", Attachment, "text/csv; charset=utf-8"},
		{"image/svg+xml", "a.svg", "", Attachment, "image/svg+xml"},
		{"image/svg+xml", "a.svg", Model, Model, "image/svg+xml"},
		{"application/pdf", "a.pdf", "", Attachment, "application/pdf"},
		{"application/zip", "a.zip", Model, Model, "application/zip"},
		{"application/pdf", "a.stl", Attachment, Attachment, "application/pdf"},
		{"text/plain", "a.png", Image, Attachment, "text/plain"},
		{"application/octet-stream", "a.stl", Image, Model, "model/stl"},
	} {
		if kind, contentType := Classify(c.sniffed, c.name, c.declared); kind != c.kind || contentType != c.contentType {
			t.Errorf("classify(%q, %q, %q) = %s, %s; want %s, %s", c.sniffed, c.name, c.declared, kind, contentType, c.kind,
				c.contentType)
		}
	}
}
