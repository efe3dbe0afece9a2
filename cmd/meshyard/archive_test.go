package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// TestArchiveCommands moves a server from SQLite to PostgreSQL with its tokens, and then one user
// back.
func TestArchiveCommands(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	dir := t.TempDir()
	first, second, ada := filepath.Join(dir, "first"), filepath.Join(dir, "second.zip"), filepath.Join(dir, "ada")
	sqlite, postgres := newCatalogue(t, binary, ""), newCatalogue(t, binary, pgtest.Database(t))
	sqlite.run("import", "catalogue", "../../testdata/catalogue", "--scale", "600")
	sqlite.run("user", "create", "ada")
	token := strings.TrimSpace(sqlite.run("token", "create", "ada"))
	const exported, imported = "already contains an archive", "there are users already"
	killed(t, sqlite, exported, "export", first, "--credentials")
	if _, stderr, err := sqlite.try("export", first); exitStatus(err) != 1 || !strings.Contains(stderr, exported) {
		t.Errorf("export again: %v, %q", err, stderr)
	}
	killed(t, postgres, imported, "import", "archive", first)
	if _, stderr, err := postgres.try("import", "archive", first); exitStatus(err) != 1 ||
		!strings.Contains(stderr, imported) {
		t.Errorf("import archive again: %v, %q", err, stderr)
	}
	postgres.run("fsck")
	if got, want := postgres.run("export", second, "--credentials"), sqlite.run("export", filepath.Join(dir, "third.zip"),
		"--credentials"); got != want {
		t.Errorf("the second export printed %q, want %q", got, want)
	}
	a, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "third.zip")); err != nil || !bytes.Equal(a, b) {
		t.Errorf("the archives of both engines differ: %v", err)
	}

	s := postgres.serve()
	if a, err := newClient(s.url).thing(&user{name: "ada", token: token}, "Gear"); err != nil || a <= 600 {
		t.Errorf("a thing made with the old token: %d, %v", a, err)
	}
	postgres.stop(s)
	parts := t.TempDir()
	if err := os.WriteFile(filepath.Join(parts, "part.stl"), []byte("solid part"), 0o600); err != nil {
		t.Fatal(err)
	}
	postgres.run("import", "folder", parts, "--owner", "ada", "--publish", "--license", "cc")
	postgres.run("export", ada, "--user", "ada")
	if err := os.RemoveAll(filepath.Join(ada, "files")); err != nil {
		t.Fatal(err)
	}
	out, stderr, err := sqlite.try("import", "archive", ada, "--user", "lovelace")
	if !strings.Contains(out, "things\t601\t601\n") {
		t.Errorf("import of a user printed %q", out)
	}
	if exitStatus(err) != 1 || !strings.Contains(stderr, "missing from the archive") ||
		!strings.Contains(stderr, "1 file lost the content; everything else is imported") {
		t.Errorf("import without a content: %v, %q", err, stderr)
	}
}

// killed runs a command repeatedly and kills it after 0.1, 0.2, 0.4… seconds, until it ends by
// itself. It may then succeed, or fail with the message done if an earlier run was killed after its
// work was complete.
func killed(t *testing.T, c *catalogue, done string, args ...string) {
	t.Helper()
	for after := 100 * time.Millisecond; ; after *= 2 {
		p, err := c.start(args...)
		if err != nil {
			t.Fatal(err)
		}
		if !p.ends(after) {
			p.kill()
			continue
		}
		if p.err != nil && (after == 100*time.Millisecond || !strings.Contains(p.stderr.String(), done)) {
			t.Fatalf("meshyard %v, continued: %v\n%s", args, p.err, p.stderr.String())
		}
		return
	}
}
