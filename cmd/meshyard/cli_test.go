package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/pgtest"
)

var tokenLine = regexp.MustCompile(`^my_[A-Za-z0-9_-]{43}\n$`)

// The commands of somebody who runs the server, on the database of a server that runs.
func TestCommands(t *testing.T) {
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			database := ""
			if engine == "postgres" {
				database = pgtest.Database(t)
			}
			c := newCatalogue(t, binary, database)
			if out := c.run("migrate"); !strings.Contains(out, "applied 0001_foundation") {
				t.Errorf("migrate said %q", out)
			}
			if out := c.run("migrate"); strings.Contains(out, "applied") {
				t.Errorf("a second migrate said %q", out)
			}
			server := c.serve()
			if out := c.run("user", "create", "ada"); !strings.Contains(out, "user ada has the id ") {
				t.Errorf("user create said %q", out)
			}
			token := c.run("token", "create", "ada", "--scope", "read", "--expires", "90d")
			if !tokenLine.MatchString(token) {
				t.Errorf("token create said %q, want a token alone", token)
			}
			request, _ := http.NewRequest("GET", server.url+"/users/me/downloads", nil)
			request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
			answer, err := http.DefaultClient.Do(request)
			if err != nil || answer.StatusCode != 200 {
				t.Errorf("with the new token: %v, %v, want 200", answer, err)
			}
			for wrong, says := range map[string]string{
				"user create ada": "taken", "user create ADA": "taken", "user create a/b": "letters", "user create me": "username", "token create bob": "does not exist",
				"token create ada --scope everything": "want read, write or admin", "token create ada --scope admin": "not an administrator", "token create ada --expires never": "lifetime",
				"serve --listen nowhere": "--listen", "gc --upload-limit much": "size", "frobnicate": "unexpected argument",
			} {
				_, stderr, err := c.try(strings.Fields(wrong)...)
				if err == nil || !strings.Contains(stderr, says) {
					t.Errorf("meshyard %s: %v, %q; want an error that says %q", wrong, err, stderr, says)
				}
			}

			if _, stderr, err := newCatalogue(t, binary, "mysql://x").try("fsck"); err == nil || !strings.Contains(stderr, "sqlite:PATH or postgres://") {
				t.Errorf("with a database of another kind: %v, %q", err, stderr)
			}

			// Something is wrong, and fsck says what.
			if out := c.run("fsck"); out != "database and bucket agree\n" {
				t.Errorf("fsck said %q", out)
			}
			stray := filepath.Join(c.data, "bucket", "files", strings.Repeat("ab", 32))
			if err := os.WriteFile(stray, []byte("stray"), 0o600); err != nil {
				t.Fatal(err)
			}
			if out := c.run("fsck"); out != "database and bucket agree\n" {
				t.Errorf("fsck of an object younger than its grace said %q", out)
			}
			if out, _, err := c.try("fsck", "--grace", "0s"); err == nil || !strings.Contains(out, strings.Repeat("ab", 32)) {
				t.Errorf("fsck of a stray object said %q, %v", out, err)
			}
			if out := c.run("gc", "--grace", "0s", "--dry-run"); !strings.Contains(out, "would remove files/"+strings.Repeat("ab", 32)) {
				t.Errorf("gc --dry-run said %q", out)
			}
			if out := c.run("gc", "--grace", "0s"); !strings.Contains(out, "removed 0 expired uploads and 1 objects (5 bytes)") {
				t.Errorf("gc said %q", out)
			}
			c.run("fsck", "--grace", "0s", "--rehash")
		})
	}
	c := newCatalogue(t, binary, "")
	if out := c.run("schema"); !strings.Contains(out, "type Query") || strings.Contains(out, "goField") {
		t.Errorf("schema said %.200q", out)
	}
	if out := c.run("openapi"); !json.Valid([]byte(out)) {
		t.Errorf("openapi said %.200q", out)
	}
	if out := c.run("--help"); !strings.Contains(out, "MESHYARD_DATABASE_URL") || !strings.Contains(out, "token") {
		t.Errorf("--help said %q", out)
	}
}
