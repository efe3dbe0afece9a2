package main_test

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestReportedImports imports the ZIP files and the folders of testdata/reports and checks the
// value that the manifest expects.
func TestReportedImports(t *testing.T) {
	t.Parallel()
	type step struct {
		path   string         // inside of an unpacked tar file
		status int            // of the command
		says   []string       // the output contains these
		rows   map[string]int // statements and how many rows each returns
	}
	things, files := "SELECT id FROM things", "SELECT id FROM files"
	bear := map[string]int{things + " WHERE name = 'Größe'": 1, files + " WHERE name = 'Bär.stl'": 1, things: 1}
	cases := map[string][]step{
		"zip_cp437.zip":  {{says: []string{"imported 1 thing"}, rows: bear}},
		"zip_cp1252.zip": {{says: []string{"imported 1 thing"}, rows: bear}},
		"zip_backslash.zip": {{says: []string{"imported 1 thing"},
			rows: map[string]int{things + " WHERE name = 'Win Thing' AND description = 'desc'": 1, files: 1}}},
		"zip_encrypted.zip": {{status: 1, says: []string{"E2/a.stl", "encrypted"},
			rows: map[string]int{things: 0, files: 0}}},
		"zip_manyfold_datapackage.zip": {{says: []string{"imported 1 thing"},
			rows: map[string]int{things + " WHERE name = 'My Model' AND is_nsfw": 1}}},
		"folder_latin1_names.tar": {{path: "fold", says: []string{"imported 2 things with 3 files",
			"names that are not UTF-8 were read as Windows-1252: Größe"},
			rows: map[string]int{things + " WHERE name IN ('Good', 'Größe')": 2, files + " WHERE name = 'ok.stl'": 1,
				files + " WHERE name = 'Bär.stl'": 2}}},
		"folders_nfc_nfd.tar": {
			{path: "f_NFC", says: []string{"imported 1 thing with 1 file"}, rows: map[string]int{things: 1, files: 1}},
			{path: "f_NFD", says: []string{"imported 0 things with 0 files", "1 had been imported before"},
				rows: map[string]int{things: 1, files: 1}},
		},
	}
	servertest.CheckReports(t, cases)
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		for name, steps := range cases {
			t.Run(engine+"/"+name, func(t *testing.T) {
				t.Parallel()
				c := newCatalogue(t, binary, databaseOn(t, engine))
				c.run("user", "create", "ada")
				from, command := servertest.Report(name), "zip"
				if filepath.Ext(name) == ".tar" {
					from, command = unpackTar(t, from), "folder"
				}
				for _, s := range steps {
					out, stderr, err := c.try("import", command, filepath.Join(from, s.path), "--owner", "ada")
					for _, says := range s.says {
						if exitStatus(err) != s.status || !strings.Contains(out+stderr, says) {
							t.Errorf("import %s: %v, %q, %q, want exit status %d and %q", command, err, out, stderr, s.status, says)
						}
					}
					for query, want := range s.rows {
						if _, rows := c.digest(query); rows != want {
							t.Errorf("%s: got %d rows, want %d", query, rows, want)
						}
					}
				}
				c.run("fsck")
			})
		}
	}
}

// unpackTar unpacks an archive into a new folder and returns it. Names keep their bytes.
func unpackTar(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		if h.FileInfo().IsDir() {
			err = os.MkdirAll(path, 0o700)
		} else if b, readErr := io.ReadAll(r); readErr != nil {
			err = readErr
		} else {
			err = os.WriteFile(path, b, 0o600)
		}
		if errors.Is(err, fs.ErrInvalid) {
			t.Skipf("this file system permits only UTF-8: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
