package folder

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestThings(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	fsys := fstest.MapFS{
		"notes.txt":                    file("not a thing"),
		"Half_a_donut/donut.STL":       file("solid"),
		"Half_a_donut/images/a.png":    file("png"),
		"Half_a_donut/.hidden/b.stl":   file("solid"),
		"Half_a_donut/Thumbs.db":       file("x"),
		"Half_a_donut/README.txt":      file("A banner\r\n\r\n# Summary\r\n\r\nHalf *a* donut.\r\n"),
		"Half_a_donut/LICENSE.txt":     file("It is licensed under the Creative Commons - Attribution - Non-Commercial - Share Alike license."),
		"ada/gear/files/gear.stl":      file("solid"),
		"ada/gear/thing.json":          file(`{"name": "Gear", "description": "Round.", "license": "CC0", "tags": ["gear"], "category": "Tools", "instructions": "Print."}`),
		"ada/gear/readme.md":           file("ignored, because the metadata file says it"),
		"ada/package/datapackage.json": file(`{"title": "Packed", "keywords": ["a", "b"], "licenses": [{"name": "x", "path": "https://creativecommons.org/licenses/by-sa/4.0/"}]}`),
		"ada/broken/thing.json":        file(`{`),
		"empty/picture.png":            file("png"),
		"__MACOSX/x/y.stl":             file("solid"),
		"other":                        {Mode: fs.ModeSymlink, Data: []byte("ada")},
		"ada/gear/link.stl":            {Mode: fs.ModeSymlink, Data: []byte("files/gear.stl")},
		"ada/gear/pipe":                {Mode: fs.ModeNamedPipe},
	}
	isModel := func(name string) bool { return path.Ext(name) == ".stl" }
	got, notes, err := Things(fsys, "root", isModel)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) > 0 && len(got[1].Notes) == 1 && strings.Contains(got[1].Notes[0], "metadata file is invalid") {
		got[1].Notes = nil
	}
	want := []Thing{
		{Path: "Half_a_donut", Name: "Half a donut", Description: "Half *a* donut.", License: "cc-nc-sa",
			Files: []string{"Half_a_donut/LICENSE.txt", "Half_a_donut/donut.STL", "Half_a_donut/images/a.png"}},
		{Path: "ada/broken", Name: "broken"},
		{Path: "ada/gear", Name: "Gear", Description: "Round.", Instructions: "Print.", License: "pd0", Category: "Tools", Tags: []string{"gear"},
			Files:  []string{"ada/gear/files/gear.stl"},
			Unread: []string{"ada/gear/link.stl"},
			Notes:  []string{"ada/gear/link.stl: was skipped: symbolic links are not followed", "ada/gear/pipe: was skipped: it is not a regular file"}},
		{Path: "ada/package", Name: "Packed", License: "cc-sa", Tags: []string{"a", "b"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"other: was skipped: symbolic links are not followed"}, notes); diff != "" {
		t.Errorf("notes: %s", diff)
	}

	// The root itself is a thing, as in the archive of one thing.
	got, _, err = Things(fstest.MapFS{"files/a.stl": file("solid"), "images/a.png": file("png")}, "One_thing", isModel)
	if err != nil || len(got) != 1 || got[0].Name != "One thing" || len(got[0].Files) != 2 {
		t.Errorf("an archive of one thing: got %+v, %v", got, err)
	}
}

func TestLicenseOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "All rights reserved.": "", "cc": "cc", "cc-nc-nd": "cc-nc-nd", "CC BY-NC 4.0": "cc-nc", "CC-BY-4.0": "cc", "CC-BY-ND-3.0": "cc-nd",
		"https://creativecommons.org/licenses/by/4.0/": "cc", "Creative Commons - Attribution license": "cc", "Public Domain Dedication": "pd0", "CC0-1.0": "pd0",
		"Attribution-NonCommercial-NoDerivatives 4.0 International": "cc-nc-nd", "Creative Commons - Attribution - Share Alike": "cc-sa",
		"GNU LESSER GENERAL PUBLIC LICENSE": "lgpl", "GPL-3.0-or-later": "gpl", "GNU - GPL": "gpl", "BSD-3-Clause": "bsd", "BSD License": "bsd",
	} {
		if got := licenseOf(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestReadmeEncodings checks that a README in another encoding than UTF-8 is read.
func TestReadmeEncodings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"F\xfcr Gr\xf6\xdfe M3.\r\nSch\xf6n.": "Für Größe M3.\nSchön.", "F\x81r Gr\x94\xe1e M3.": "Für Größe M3.", "a\x00b": ""} {
		things, _, err := Things(fstest.MapFS{"a.stl": {}, "README.txt": {Data: []byte(text)}}, "x", func(name string) bool { return path.Ext(name) == ".stl" })
		if err != nil || len(things) != 1 || things[0].Description != want {
			t.Errorf("%q: got %+v, %v; want %q", text, things, err, want)
		}
	}
}
