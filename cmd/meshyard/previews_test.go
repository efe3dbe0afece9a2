package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPreviewCommands checks that operators can list the previews that failed, and make them again.
func TestPreviewCommands(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "part.stl"), []byte("solid part"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.run("user", "create", "ada")
			c.run("import", "folder", dir, "--owner", "ada", "--publish", "--license", "cc")
			failed := func() string {
				_, rows, _ := strings.Cut(c.run("preview", "list"), "\n")
				return rows
			}
			if out := failed(); out != "" {
				t.Errorf("before an attempt, preview list prints %q", out)
			}
			c.refuses(map[string]string{"preview retry 1": "preview 1 has not failed",
				"preview retry 7": "preview 7 does not exist", "preview retry": "expected \"<id> ...\""})
			s := c.serve()
			waitFor(t, "the failed preview", func() bool { return failed() != "" })
			c.stop(s)
			if out := failed(); strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "1   1     part.stl  ada    20") ||
				!strings.Contains(out, "The STL file") {
				t.Errorf("preview list prints %q, want preview 1 of file 1 with the reason", out)
			}
			if out := c.run("preview", "retry", "1"); out != "queued preview 1\n" {
				t.Errorf("preview retry printed %q", out)
			}
			if out := failed(); out != "" {
				t.Errorf("after preview retry, preview list prints %q", out)
			}
			c.serve()
			waitFor(t, "another attempt", func() bool { return failed() != "" })
		})
	}
}
