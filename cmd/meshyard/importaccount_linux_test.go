package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
)

// TestImportAccountAsksForTheUser checks that the other service does not choose the local user: on
// a terminal, the operator confirms the name.
func TestImportAccountAsksForTheUser(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := "[]"
		if r.URL.Path == "/users/me" {
			text = `{"name": "ada"}`
		}
		_, _ = fmt.Fprint(w, text)
	}))
	defer service.Close()
	c := newCatalogue(t, buildBinary(t), "")
	c.run("user", "create", "zoe")
	if _, stderr, err := c.try("import", "account", "--from", service.URL, "--token", "x", "--user",
		"zoe"); exitStatus(err) != 1 || !strings.Contains(stderr, "--allow-private") {
		t.Errorf("a service at a private address: got %v, %q; want exit status 1 and --allow-private", err, stderr)
	}
	for _, step := range []struct{ answer, asks, says string }{
		{"\n", `into a new user "ada"? [y/N]`, "nothing was imported"},
		{"y\n", `into a new user "ada"? [y/N]`, "imported 0 things"},
		{"n\n", `into the existing user "ada"? [y/N]`, "nothing was imported"},
	} {
		command := fmt.Sprintf("'%s' import account --from %s --token x --allow-private --data '%s'", c.binary, service.URL,
			c.data)
		terminal := exec.Command("script", "-qec", command, "/dev/null")
		terminal.Stdin = strings.NewReader(step.answer)
		out, err := terminal.CombinedOutput()
		if failed := err != nil; failed != strings.HasPrefix(step.says, "nothing") ||
			!strings.Contains(string(out), step.asks) || !strings.Contains(string(out), step.says) {
			t.Errorf("answer %q: got %v, %q; want %q and %q", step.answer, err, out, step.asks, step.says)
		}
	}
}
