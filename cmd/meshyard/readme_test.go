package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestREADME runs every shell block of the README in one shell, in order, on a new server. The
// blocks are unchanged except that the URL and the token of the server are inserted, and that make
// only prints its commands. A line fails if its command fails (with curl, on every status that is
// not a success) or if it prints GraphQL errors.
func TestREADME(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the tour in the README needs curl, which is not installed")
	}
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.run("user", "create", "admin", "--admin")
			token := strings.TrimSpace(c.run("token", "create", "admin"))
			followREADME(t, binary, c.serve().url, token)
		})
	}
}

// followREADME runs the shell blocks of the README on the empty server at url, with the given
// token.
func followREADME(t *testing.T, binary, url, token string, environment ...string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	for _, block := range blocks {
		script.WriteString(block[1])
	}
	if len(blocks) < 5 || regexp.MustCompile("(?m)^```(bash|shell|console)").Match(text) {
		t.Fatalf("README.md has %d blocks marked sh: want all shell blocks to be marked so", len(blocks))
	}
	work := t.TempDir() // the working directory of the commands
	if err := os.Symlink(filepath.Join(root, "testdata"), filepath.Join(work, "testdata")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "Makefile"), filepath.Join(work, "Makefile")); err != nil {
		t.Fatal(err)
	}
	commands := strings.NewReplacer("http://127.0.0.1:8080", url, "meshyard_…", token).Replace(script.String())
	commands = regexp.MustCompile(`(?m)^make `).ReplaceAllString(commands, "make -n ")
	shell := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	shell.Dir = work
	shell.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MESHYARD_") })
	shell.Env = append(append(shell.Env, "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH")), environment...)
	out, err := shell.CombinedOutput()
	if err != nil || strings.Contains(string(out), `"errors"`) {
		t.Errorf("the README's commands: %v\n%s", err, out)
	}
	for _, want := range []string{`"role":"ADMINISTRATOR"`, "event: complete", `"state":"PUBLISHED"`,
		`"name":"Half a donut"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the README's commands printed no %s:\n%s", want, out)
		}
	}
	uploaded, _ := os.ReadFile(filepath.Join(root, "testdata/meshes/numpystl_HalfDonut_bin.stl"))
	if got, err := os.ReadFile(filepath.Join(work, "donut.stl")); err != nil || !slices.Equal(got, uploaded) {
		t.Errorf("the download holds %d bytes (error %v), want the %d of the upload", len(got), err, len(uploaded))
	}
}
