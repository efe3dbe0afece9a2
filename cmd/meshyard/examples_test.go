//go:build npm

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExamples runs each example against one server. An example handles a model from upload to
// download with a real client library.
func TestExamples(t *testing.T) {
	dir, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	c := newCatalogue(t, buildBinary(t), "")
	c.settings = append(c.settings, "--webhook-allow-private")
	server := c.serve()
	c.run("user", "create", "ada")
	environment := append(os.Environ(), "MESHYARD_URL="+server.url,
		"MESHYARD_TOKEN="+strings.TrimSpace(c.run("token", "create", "ada")))
	run := func(t *testing.T, dir, program string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Env = dir, environment
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
		}
		t.Logf("%s", out)
	}

	run(t, dir, "npm", "ci", "--no-audit", "--no-fund")
	// The TypeScript examples generate their types from the schemas.
	build := filepath.Join(dir, "build")
	if err := os.MkdirAll(build, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]string{"schema.graphql": "schema", "openapi.json": "openapi"} {
		if err := os.WriteFile(filepath.Join(build, name), []byte(c.run(command)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "npm", "run", "build")
	for _, name := range []string{"urql.js", "relay/main.js", "graphql-ws.js", "graphql-sse.js", "webhook.js",
		"build/js/apollo.js", "build/js/gql-tada.js", "build/js/openapi-fetch.js"} {
		t.Run(name, func(t *testing.T) { run(t, dir, "node", name) })
	}
	t.Run("genqlient", func(t *testing.T) {
		dir := filepath.Join(dir, "genqlient")
		generated := filepath.Join(dir, "generated.go")
		before, err := os.ReadFile(generated)
		if err != nil {
			t.Fatal(err)
		}
		run(t, dir, "go", "generate", ".")
		if after, err := os.ReadFile(generated); err != nil || !slices.Equal(before, after) {
			t.Errorf("%s is not what the schema generates (error %v): commit the new one", generated, err)
		}
		run(t, dir, "go", "run", ".")
	})
}
