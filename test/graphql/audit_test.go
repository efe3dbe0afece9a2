//go:build npm

package graphql_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestGraphQLOverHTTP runs all audits of the npm package graphql-http.
func TestGraphQLOverHTTP(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	node(t, "testdata/graphql-http", "audit.js", s.URL+"/graphql")
}

// TestSubscriptionClients subscribes with client libraries from npm, over WebSocket and server-sent
// events.
func TestSubscriptionClients(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	ada := s.User("ada")
	thing, file := waits(t, ada)
	node(t, "testdata/graphql-clients", "clients.js", s.URL, ada.Token, fmt.Sprint(thing), fmt.Sprint(file))
}

// node runs a script with the packages that are listed beside it.
func node(t *testing.T, from string, script ...string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"},
		append([]string{"node"}, script...)} {
		run := exec.CommandContext(t.Context(), command[0], command[1:]...)
		run.Dir = dir
		out, err := run.CombinedOutput()
		t.Logf("%v\n%s", command, out)
		if err != nil {
			t.Fatalf("%v: %v", command, err)
		}
	}
}
