package main_test

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestImportMeshes checks that quotas do not apply to the model files of a catalogue, as they do
// not to its rows: running the import again would not help.
func TestImportMeshes(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.settings = []string{"--quota-bytes", "1KiB"}
			meshes := t.TempDir()
			if err := os.WriteFile(filepath.Join(meshes, "part.stl"), []byte(strings.Repeat("solid part", 200)),
				0o600); err != nil {
				t.Fatal(err)
			}
			if out := c.run("import", "catalogue", "../../testdata/catalogue", "--meshes", meshes); !strings.Contains(out,
				"uploaded 1 of 1 model files") {
				t.Errorf("import catalogue: %q", out)
			}
		})
	}
}

// TestImportFolderPublishes checks that a thing that could not be published is not imported, so the
// next import does not skip it.
func TestImportFolderPublishes(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gear.stl"), []byte("solid gear"), 0o600); err != nil {
		t.Fatal(err)
	}
	for engine, statements := range map[string][2]string{
		"sqlite": {"CREATE TRIGGER refuse BEFORE UPDATE OF state ON things BEGIN SELECT raise(ABORT, 'refused'); END",
			"DROP TRIGGER refuse"},
		"postgres": {"ALTER TABLE things ADD CONSTRAINT refuse CHECK (state <> 'published')",
			"ALTER TABLE things DROP CONSTRAINT refuse"},
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.run("user", "create", "ada")
			execute := func(statement string) {
				t.Helper()
				db := c.open()
				defer db.Close()
				if _, err := db.SQL().Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
			execute(statements[0])
			if out, stderr, err := c.try("import", "folder", dir, "--owner", "ada", "--publish", "--license",
				"cc"); exitStatus(err) != 1 || !strings.Contains(out, "imported 0 things") {
				t.Errorf("without publishing: got %v, %q and %q, want exit status 1 and no thing", err, out, stderr)
			}
			execute(statements[1])
			if out := c.run("import", "folder", dir, "--owner", "ada", "--publish", "--license", "cc"); !strings.Contains(out,
				"imported 1 thing with 1 file") {
				t.Errorf("again: got %q, want one imported thing", out)
			}
			if _, published := c.digest("SELECT id FROM things WHERE state = 'published'"); published != 1 {
				t.Errorf("got %d published things, want 1", published)
			}
		})
	}
}

// TestImportFolder checks the import of a folder, a second import that skips what exists, and the
// import of an archive of the same things for another user.
func TestImportFolder(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	stl, err := os.ReadFile("../../testdata/meshes/numpystl_HalfDonut_bin.stl")
	if err != nil {
		t.Fatal(err)
	}
	photo, err := os.ReadFile("../../testdata/images/gps.jpg") // stored without its metadata
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Half_a_donut/donut.stl":    string(stl),
		"Half_a_donut/README.md":    "# A donut\n\nHalf of it.",
		"Half_a_donut/LICENSE":      "Creative Commons - Attribution - Share Alike",
		"others/gear/thing.json":    `{"name": "Gear", "description": "Round.", "category": "Tools", "tags": ["gear"], "license": "pd0", "creator": "Bob", "creatorUrl": "https://cults3d.com/en/users/bob", "url": "https://cults3d.com/en/3d-model/gear"}`,
		"others/gear/files/big.stl": strings.Repeat("x", 2<<20),
		"plain/part.stl":            "solid part",
		"plain/photo.jpg":           string(photo),
		"others/bad/thing.json":     `{"name": "Bad", "category": "No such category"}`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive := filepath.Join(t.TempDir(), "things.zip")
	pack(t, archive, dir)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.settings = []string{"--upload-limit", "1MiB", "--quota-things", "1"}
			c.run("user", "create", "ada")
			c.run("user", "create", "bob")
			out, stderr, err := c.try("import", "folder", dir, "--owner", "ada", "--publish")
			if exitStatus(err) != 1 || !strings.Contains(out, "imported 3 things with 4 files") ||
				!strings.Contains(stderr, "1 of 4 things were not imported") {
				t.Errorf("import folder: %v, %q, %q", err, out, stderr)
			}
			for _, want := range []string{"No such category", "others/gear/files/big.stl: was skipped",
				"is a draft, because it has no model", "is a draft, because its license is unknown",
				"thing 1, Half a donut, with 2 files"} {
				if !strings.Contains(stderr, want) {
					t.Errorf("import folder printed %q, want %q in it", stderr, want)
				}
			}
			out, _, _ = c.try("import", "folder", dir, "--owner", "ada")
			if !strings.Contains(out, "imported 0 things with 0 files") || !strings.Contains(out, "3 had been imported before") {
				t.Errorf("import folder again: %q", out)
			}
			out, _, _ = c.try("import", "zip", archive, "--owner", "bob")
			if !strings.Contains(out, "imported 3 things with 4 files") {
				t.Errorf("import zip: %q", out)
			}
			for wrong, says := range map[string]string{
				"--owner nobody": "does not exist", "--owner ada --license x": `--license "x": must be one of`,
			} {
				if _, stderr, err := c.try(append([]string{"import", "folder", dir}, strings.Fields(wrong)...)...); exitStatus(
					err) != 1 || !strings.Contains(stderr, says) {
					t.Errorf("import folder %s: %v, %q; want %q", wrong, err, stderr, says)
				}
			}

			s := c.serve()
			u := &user{name: "ada", token: strings.TrimSpace(c.run("token", "create", "ada"))}
			const query = `{"query": "{ thing(id: 1) { name state license description files { name } } gear: thing(id: 2) { state license origin { creator creatorUrl url site } tags { name } category { name } } plain: thing(id: 3) { license licenseInfo { spdxId } origin { url } } bobs: thing(id: 4) { id } }"}`
			a, err := newClient(s.url).send(u, http.MethodPost, "/graphql", "application/json", strings.NewReader(query))
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Data json.RawMessage
			}
			if err := json.Unmarshal(a.body, &got); err != nil {
				t.Fatal(err)
			}
			const want = `{"thing":{"name":"Half a donut","state":"PUBLISHED","license":"CC_SA","description":"# A donut\n\nHalf of it.","files":[{"name":"LICENSE"},{"name":"donut.stl"}]},` +
				`"gear":{"state":"DRAFT","license":"PD0","origin":{"creator":"Bob","creatorUrl":"https://cults3d.com/en/users/bob","url":"https://cults3d.com/en/3d-model/gear","site":"Cults"},"tags":[{"name":"gear"}],"category":{"name":"Tools"}},"plain":{"license":"OTHER","licenseInfo":{"spdxId":"LicenseRef-Unknown"},"origin":null},"bobs":null}`
			if string(got.Data) != want {
				t.Errorf("got %s, want %s", a.body, want)
			}
			c.stop(s)

			// A thing of the same name, with a file of the same name and size, is another one.
			other := t.TempDir()
			for name, text := range map[string]string{"plain": "solid qart", "copies/plain": "solid part",
				"copies/others/plain": "solid part"} {
				path := filepath.Join(other, filepath.FromSlash(name))
				if err := errors.Join(os.MkdirAll(path, 0o700), os.WriteFile(filepath.Join(path, "part.stl"), []byte(text),
					0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(os.Symlink("part.stl", filepath.Join(other, "plain", "link.stl")),
				os.Symlink("plain", filepath.Join(other, "linked"))); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"imported 1 thing with 1 file in N; updated 0 things; 2 had been imported before\n",
				"imported 0 things with 0 files in N; updated 0 things; 3 had been imported before\n"} {
				out, stderr, err := c.try("import", "folder", other, "--owner", "ada")
				out = regexp.MustCompile(` in \d+s;`).ReplaceAllString(out, " in N;")
				if exitStatus(err) != 1 || out != want || !strings.Contains(stderr, "skipped 2 files") ||
					!strings.Contains(stderr, "linked: was skipped: symbolic links are not followed") {
					t.Errorf("import of another folder: got %v, %q and %q, want %q", err, out, stderr, want)
				}
				for _, note := range []string{": has the name of thing 3, which has other files",
					"plain/link.stl: was skipped: symbolic links are not followed"} {
					if strings.HasPrefix(want, "imported 1") && !strings.Contains(stderr, note) {
						t.Errorf("import of another folder printed %q, want %q", stderr, note)
					}
				}
			}
			c.run("fsck")
		})
	}
}

// TestImportMiniature checks the import of a thing with variants: that a dry run lists everything
// and changes nothing, that nothing is published, and that an import after files were added doubles
// nothing.
func TestImportMiniature(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			add := func(names ...string) {
				t.Helper()
				for _, name := range names {
					file := filepath.Join(dir, filepath.FromSlash(name))
					if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("solid "+name),
						0o600)); err != nil {
						t.Fatal(err)
					}
				}
			}
			add("Minis/Dragon/Supported/dragon.stl", "Minis/Dragon/Unsupported/dragon.stl", "Minis/Dragon/dragon.lys",
				"Minis/Dragon/guide.pdf",
				"Minis/Dragon/@eaDir/x.jpg", "Minis/Orc/orc.stl", "Minis/Orc/Thumbs.db")
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.run("user", "create", "ada")
			out := c.run("import", "folder", dir, "--owner", "ada", "--dry-run")
			for _, want := range []string{`thing "Dragon" from "Minis/Dragon" in collection "Minis"`,
				"model      Supported/dragon.stl [Supported]", "document   guide.pdf",
				"would import 2 things with 5 files; would skip 0 files"} {
				if !strings.Contains(out, want) {
					t.Errorf("dry run printed %q, want %q in it", out, want)
				}
			}
			rows := func(query string, want int) {
				t.Helper()
				if _, got := c.digest(query); got != want {
					t.Errorf("%s: got %d rows, want %d", query, got, want)
				}
			}
			rows("SELECT id FROM things", 0)
			c.run("import", "folder", dir, "--owner", "ada")
			rows("SELECT id FROM things WHERE state = 'draft'", 2)
			rows("SELECT id FROM files", 5)
			rows("SELECT id FROM files WHERE name = 'dragon.stl' AND folder IN ('Supported', 'Unsupported')", 2)
			rows("SELECT id FROM files WHERE folder = ''", 3)
			rows("SELECT thing_id FROM collection_things", 2)
			add("Minis/Dragon/Unsupported/wing.stl")
			if out := c.run("import", "folder", dir, "--owner", "ada"); !strings.Contains(out,
				"imported 0 things with 1 file") || !strings.Contains(out, "updated 1 thing; 1 had been imported before") {
				t.Errorf("after a file was added: %q", out)
			}
			add("Minis/Photos/holiday.jpg")
			if _, stderr, err := c.try("import", "folder", dir, "--owner", "ada"); exitStatus(err) != 1 ||
				!strings.Contains(stderr, "Minis/Photos/holiday.jpg: was skipped") {
				t.Errorf("with a picture of no thing: %v, %q", err, stderr)
			}
			rows("SELECT id FROM things", 2)
			rows("SELECT id FROM files", 6)
			rows("SELECT id FROM collections", 1)
		})
	}
}

// pack writes the files of a directory into a ZIP archive.
func pack(t *testing.T, archive, dir string) {
	t.Helper()
	f, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
