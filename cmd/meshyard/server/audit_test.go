//go:build npm

package server_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

// TestGraphQLOverHTTP runs all audits of the npm package graphql-http.
func TestGraphQLOverHTTP(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/graphql-http")); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"}, {"node", "audit.js", s.URL + "/graphql"}} {
		run := exec.CommandContext(t.Context(), command[0], command[1:]...)
		run.Dir = dir
		out, err := run.CombinedOutput()
		t.Logf("%v\n%s", command, out)
		if err != nil {
			t.Fatalf("%v: %v", command, err)
		}
	}
}
