package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
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
				{other, []string{"backup", dir, "--no-database"}, dir + ": contains a backup of another " + engine + " database, of 20"},
				{own, []string{"backup", dir, "--no-database"}, dir + ": contains a backup with the " + engine + " database, of 20"},
			} {
				if _, stderr, err := c.by.try(c.args...); exitStatus(err) != 1 || !strings.Contains(stderr, c.says) || !strings.HasSuffix(stderr, "--replace to delete that backup\n") {
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
