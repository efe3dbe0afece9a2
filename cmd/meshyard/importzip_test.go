package main_test

import (
	"archive/zip"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rawEntry is an entry of a ZIP archive as any program may write it.
type rawEntry struct {
	name      string // in any encoding
	text      string
	encrypted bool
	damaged   bool // the checksum is wrong
}

// packRaw writes an archive with the given entries and returns its path.
func packRaw(t *testing.T, name string, entries []rawEntry) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(e.text)),
			CompressedSize64: uint64(len(e.text)), UncompressedSize64: uint64(len(e.text))}
		if e.encrypted {
			h.Flags |= 1
		}
		if e.damaged {
			h.CRC32++
		}
		w, err := z.CreateRaw(h)
		if err == nil {
			_, err = io.WriteString(w, e.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestImportZIP checks that things with names in other encodings are imported, that things whose
// models cannot be read leave nothing behind, and that a second run changes nothing.
func TestImportZIP(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	const stl = "solid part"
	archive := packRaw(t, "mixed.zip", []rawEntry{
		{name: "Gr\xf6\xdfe/B\xe4r.stl", text: stl},
		{name: `Win Thing\files\a.stl`, text: stl + " a"},
		{name: `Win Thing\README.txt`, text: "Windows."},
		{name: "Locked/thing.json", text: `{"name": "Locked"}`},
		{name: "Locked/a.stl", text: stl + " b", encrypted: true},
		{name: "Damaged/0.txt", text: "This is uploaded first."},
		{name: "Damaged/a.stl", text: stl + " c", damaged: true},
		{name: "Half/a.stl", text: stl + " d"},
		{name: "Half/b.stl", text: stl + " e", damaged: true},
		{name: "../out.stl", text: stl},
		{name: "Control/\x1b[31m.stl", text: stl + " f"},
		{name: "Control/thing.json", text: `{"name": "Control", "category": "\u001b[31mred"}`},
		{name: "@eaDir/x/a.stl", text: stl + " g"},
	})
	large := packRaw(t, "large.zip", []rawEntry{{name: "a.stl", text: strings.Repeat("x", 3<<10)}})
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.run("user", "create", "ada")
			for run, want := range []string{"imported 3 things with 3 files", "imported 0 things with 0 files"} {
				out, stderr, err := c.try("import", "zip", archive, "--owner", "ada")
				if exitStatus(err) != 1 || !strings.Contains(out, want) || run == 1 &&
					!strings.Contains(out, "3 had been imported before") {
					t.Errorf("run %d: got %v, %q; want %q", run, err, out, want)
				}
				for _, want := range []string{
					"names that are not UTF-8 were read as Windows-1252", "../out.stl: was skipped",
					"Locked: none of its models can be read: Locked/a.stl: was skipped: it is encrypted",
					"Damaged: none of its models can be read: Damaged/a.stl: was skipped: it cannot be read", `\x1b[31mred`,
					"3 of 6 things were not imported",
				} {
					if !strings.Contains(stderr, want) {
						t.Errorf("run %d: printed %q, want %q in it", run, stderr, want)
					}
				}
				if run == 0 && !strings.Contains(stderr, "Half/b.stl: was skipped: it cannot be read") {
					t.Errorf("printed %q, want a note about Half/b.stl", stderr)
				}
				if strings.Contains(stderr, "\x1b") {
					t.Errorf("run %d: printed a control character: %q", run, stderr)
				}
				for query, want := range map[string]int{
					"SELECT id FROM things": 3, "SELECT id FROM things WHERE state = 'draft'": 3, "SELECT id FROM files": 3,
					"SELECT id FROM things WHERE name IN ('Größe', 'Win Thing', 'Half')": 3,
					"SELECT id FROM files WHERE name = 'Bär.stl'":                        1,
				} {
					if _, rows := c.digest(query); rows != want {
						t.Errorf("run %d: %s: got %d rows, want %d", run, query, rows, want)
					}
				}
			}
			if _, stderr, err := c.try("import", "zip", large, "--owner", "ada", "--unpacked-limit",
				"2KiB"); exitStatus(err) != 1 ||
				!strings.Contains(stderr,
					"large.zip: unpacks to 3072 bytes, and at most 2048 are permitted: set --unpacked-limit") {
				t.Errorf("above the limit: got %v, %q", err, stderr)
			}
			if out := c.run("import", "zip", large, "--owner", "ada", "--unpacked-limit", "3KiB"); !strings.Contains(out,
				"imported 1 thing with 1 file") {
				t.Errorf("at the limit: got %q", out)
			}
		})
	}
}

// TestImportNormalized checks that names of macOS and of other systems, which encode accents in
// different ways, are the same name.
func TestImportNormalized(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.run("user", "create", "ada")
			for i, u := range []string{"\u00fc", "u\u0308"} {
				dir := t.TempDir()
				if err := os.Mkdir(filepath.Join(dir, "Schl"+u+"ssel"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "Schl"+u+"ssel", "T"+u+"r.stl"), []byte("solid key"), 0o600); err != nil {
					t.Fatal(err)
				}
				out, _, err := c.try("import", "folder", dir, "--owner", "ada")
				if want := fmt.Sprintf("; %d had been imported before", i); err != nil || !strings.Contains(out, want) {
					t.Errorf("%+q: got %v, %q; want %q", u, err, out, want)
				}
			}
			if _, rows := c.digest("SELECT id FROM files WHERE name = 'T\u00fcr.stl'"); rows != 1 {
				t.Errorf("got %d files of the name, want 1", rows)
			}
		})
	}
}
