package main_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestImportURL imports a file from a URL twice, which gives one draft, and refuses a private
// address by default.
func TestImportURL(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = w.Write([]byte("solid cube"))
	}))
	t.Cleanup(service.Close)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.run("user", "create", "ada")
			address := service.URL + "/cube.stl"
			if out := c.run("import", "url", address, "--owner", "ada", "--link-allow-private",
				"--dry-run"); !strings.Contains(out, `thing "cube" under the license LicenseRef-Unknown`) {
				t.Errorf("dry run printed %q", out)
			}
			for range 2 {
				if out := c.run("import", "url", address, "--owner", "ada", "--link-allow-private"); !strings.Contains(out,
					"imported thing 1\n") {
					t.Errorf("printed %q", out)
				}
			}
			if _, n := c.digest("SELECT id FROM things WHERE state = 'draft'"); n != 1 {
				t.Errorf("got %d drafts, want 1", n)
			}
			if _, n := c.digest("SELECT id FROM link_imports WHERE state = 'done' AND token = ''"); n != 2 {
				t.Errorf("got %d imports that are done, want 2", n)
			}
		})
	}
}
