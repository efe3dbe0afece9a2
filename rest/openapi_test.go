package rest_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/rest"
)

var update = flag.Bool("update", false, "update the golden files")

// TestGoldens checks that the OpenAPI description, the schema and the guide change only
// intentionally. Update them with go test ./rest -update.
func TestGoldens(t *testing.T) {
	g := graph.New(nil)
	openAPI, err := rest.OpenAPI(g, "http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := rest.Guide(g)
	if err != nil {
		t.Fatal(err)
	}
	for path, got := range map[string][]byte{"../docs/migration.md": guide, "testdata/openapi.golden.json": append(openAPI, '\n'), "testdata/schema.golden.graphql": []byte(g.SDL())} {
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the code gives; if that is meant, go test ./rest -update", path)
		}
	}
}
