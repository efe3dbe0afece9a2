package main_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestBackupReplacesOnlyItsOwn checks that a backup does not silently replace one of another
// database, nor one that has the database with one that has none.
func TestBackupReplacesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	built := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			own, other := newCatalogue(t, built, databaseOn(t, engine)), newCatalogue(t, built, databaseOn(t, engine))
			own.run("user", "create", "ada")
			other.run("user", "create", "bob")
			dir := filepath.Join(t.TempDir(), "backup")
			manifest := func() (text string, source string) {
				t.Helper()
				b, err := os.ReadFile(filepath.Join(dir, "backup.json"))
				if err != nil {
					t.Fatal(err)
				}
				var m struct{ Source string }
				if err := json.Unmarshal(b, &m); err != nil {
					t.Fatal(err)
				}
				return string(b), m.Source
			}
			own.run("backup", dir, "--no-database")
			own.run("backup", dir)
			own.run("backup", dir)
			before, source := manifest()
			for _, c := range []struct {
				by   *catalogue
				args []string
				says string
			}{
				{other, []string{"backup", dir}, dir + ": contains a backup of another " + engine + " database, of 20"},
				{other, []string{"backup", dir, "--no-database"}, dir + ": contains a backup of another " + engine +
					" database, of 20"},
				{own, []string{"backup", dir, "--no-database"}, dir + ": contains a backup with the " + engine +
					" database, of 20"},
			} {
				if _, stderr, err := c.by.try(c.args...); exitStatus(err) != 1 || !strings.Contains(stderr, c.says) ||
					!strings.HasSuffix(stderr, "--replace to delete that backup\n") {
					t.Errorf("%q: got %v, %q; want it rejected with %q", c.args, err, stderr, c.says)
				}
			}
			if after, _ := manifest(); after != before {
				t.Errorf("after the rejected backups the manifest is %s, want %s", after, before)
			}

			restored := newCatalogue(t, built, databaseOn(t, engine))
			restored.run("restore", dir)
			restored.run("backup", dir)
			other.run("backup", dir, "--replace")
			if _, now := manifest(); now == source || now == "" {
				t.Errorf("after --replace the source is %q, want another one than %q", now, source)
			}
			other.run("backup", dir, "--replace", "--no-database")
		})
	}
}

// TestRestoreIncomplete checks that restore rejects a backup of a newer version, without its
// objects, or of another database before it copies anything, and that damaged and missing objects
// do not prevent the rest.
func TestRestoreIncomplete(t *testing.T) {
	t.Parallel()
	built := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			withFiles := func(names ...string) *catalogue {
				c, folder := newCatalogue(t, built, databaseOn(t, engine)), t.TempDir()
				c.run("user", "create", "ada")
				for _, name := range names {
					if err := os.WriteFile(filepath.Join(folder, name+".stl"), []byte("solid "+name), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				c.run("import", "folder", folder, "--owner", "ada", "--publish", "--license", "cc")
				return c
			}
			own, dir := withFiles("damaged", "missing", "intact"), filepath.Join(t.TempDir(), "backup")
			own.run("backup", dir, "--no-database")
			object := func(name string) string {
				return filepath.Join(dir, "objects", "files", fmt.Sprintf("%x", sha256.Sum256([]byte("solid "+name))))
			}
			restored := newCatalogue(t, built, databaseOn(t, engine))
			rejects := func(c *catalogue, says string) {
				t.Helper()
				if _, stderr, err := c.try("restore", dir); exitStatus(err) != 1 || !strings.Contains(stderr, says) {
					t.Errorf("restore: got %v, %q; want it rejected with %q", err, stderr, says)
				}
				if _, err := os.Stat(filepath.Join(c.data, "bucket", "files", filepath.Base(object("intact")))); err == nil {
					t.Error("a rejected restore has copied an object")
				}
			}
			rejects(withFiles("other"), "the objects of the backup are not those of the database")
			own.run("backup", dir)
			manifest := filepath.Join(dir, "backup.json")
			text, err := os.ReadFile(manifest)
			if err != nil {
				t.Fatal(err)
			}
			newer := regexp.MustCompile(`"migration": "\d+`).ReplaceAll(text, []byte(`"migration": "9999`))
			if err := os.WriteFile(manifest, newer, 0o600); err != nil {
				t.Fatal(err)
			}
			rejects(restored, "the database is newer than this version")
			if err := os.WriteFile(manifest, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, "objects"), filepath.Join(dir, "..", "objects")); err != nil {
				t.Fatal(err)
			}
			rejects(restored, "has none of the 3 objects of the backup")
			if err := errors.Join(os.RemoveAll(filepath.Join(dir, "objects")), os.Rename(filepath.Join(dir, "..", "objects"),
				filepath.Join(dir, "objects"))); err != nil {
				t.Fatal(err)
			}

			if err := errors.Join(os.WriteFile(object("damaged"), []byte("solid dAmaged"), 0o600),
				os.Remove(object("missing"))); err != nil {
				t.Fatal(err)
			}
			out, stderr, err := restored.try("restore", dir)
			if exitStatus(err) != 1 ||
				!strings.Contains(stderr,
					"the backup has 1 object that cannot be restored; everything else is restored; database and bucket disagree in 2 places") {
				t.Errorf("restore of damaged objects: got %v, %q", err, stderr)
			}
			for name, says := range map[string]string{"damaged": "object files/%s: copy ",
				"missing": ": object files/%s is missing"} {
				if want := fmt.Sprintf(says, filepath.Base(object(name))); !strings.Contains(out, want) {
					t.Errorf("restore of damaged objects printed %q, want %q in it", out, want)
				}
			}
			if out, _, err := restored.try("fsck", "--rehash"); exitStatus(err) != 1 || strings.Count(out, "\n") != 2 ||
				strings.Contains(out, filepath.Base(object("intact"))) {
				t.Errorf("fsck after the restore: got %v, %q; want the two objects", err, out)
			}
		})
	}
}
