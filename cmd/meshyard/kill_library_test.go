package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKillLibraryScan checks that a scan of a library that is killed by SIGKILL a few times and
// started again produces the same rows as an uninterrupted one, and that a second scan adds none.
func TestKillLibraryScan(t *testing.T) {
	t.Parallel()
	most := numberFrom(t, "MESHYARD_TEST_KILLS", 2)
	binary := buildBinary(t)
	dir := t.TempDir()
	const things, files = 400, 3 // a scan stores 100 folders at once
	for i := range things {
		folder := filepath.Join(dir, fmt.Sprintf("Set %d", i%10), fmt.Sprintf("Thing %d", i))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range files {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("part_%d.stl", j)), fmt.Appendf(nil, "solid %d %d", i, j),
				0o444); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			var whole, killed *catalogue
			for _, c := range []**catalogue{&whole, &killed} {
				*c = newCatalogue(t, binary, databaseOn(t, engine))
				(*c).settings = []string{"--library", "lib=" + dir, "--library-owner", "ada"}
				(*c).run("migrate")
				(*c).run("user", "create", "ada")
			}
			want := fmt.Sprintf("lib: %d files found; %d things added with %d files; 0 changed, 0 moved, 0 missing",
				things*files, things, things*files)
			if out := whole.run("library", "scan"); !strings.Contains(out, want) ||
				!strings.Contains(out, fmt.Sprintf("read %d files", things*files)) {
				t.Errorf("got %q, want %q", out, want)
			}
			db := killed.open()
			defer db.Close()
			kills := int64(0)
			for ; kills < most; kills++ {
				p, err := killed.start("library", "scan")
				if err != nil {
					t.Fatal(err)
				}
				stored := rows(t, db, "library_places")
				for before := stored; stored <= before && !p.ends(2*time.Millisecond); {
					stored = rows(t, db, "library_places")
				}
				if p.ends(0) {
					break
				}
				p.kill()
			}
			if kills == 0 {
				t.Fatal("it ended before it could be killed")
			}
			killed.run("library", "scan")
			if out := killed.run("library", "scan"); !strings.Contains(out,
				"0 things added with 0 files; 0 changed, 0 moved, 0 missing") || !strings.Contains(out, "read 0 files") {
				t.Errorf("the second scan: got %q", out)
			}
			for _, query := range []string{
				"SELECT t.name, t.state, f.object_key, f.folder, f.name, f.kind, f.size, f.rank, f.sha256, f.preview_id <> 0 FROM files AS f JOIN things AS t ON t.id = f.thing_id ORDER BY f.object_key",
				"SELECT lt.source, lt.place_path, t.name FROM library_things AS lt JOIN things AS t ON t.id = lt.thing_id ORDER BY lt.source",
				"SELECT path, kind, fingerprint, skips FROM library_places ORDER BY path, kind",
				"SELECT count(*) FROM things",
				"SELECT sha256, subject, state FROM previews ORDER BY sha256",
			} {
				want, n := whole.digest(query)
				if got, m := killed.digest(query); got != want {
					t.Errorf("after %d kills there are %d rows, want %d, or they differ: %s", kills, m, n, query)
				}
			}
			for _, command := range []string{"list", "problems"} {
				killed.run("library", command)
			}
			killed.run("fsck")
			if out := killed.run("backup", filepath.Join(t.TempDir(), "backup")); !strings.Contains(out, "librar") {
				t.Errorf("the backup does not say that it leaves libraries out: %q", out)
			}
			t.Logf("%d kills", kills)
		})
	}
}
