package rest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
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
	for path, got := range map[string][]byte{"../docs/migration.md": guide, "testdata/openapi.golden.json": append(openAPI,
		'\n'), "testdata/schema.golden.graphql": []byte(g.SDL())} {
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

// TestCommentTargets checks that the description offers only the objects that can be commented on.
func TestCommentTargets(t *testing.T) {
	described, err := rest.OpenAPI(graph.New(nil), "http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Enum       []string
		Properties map[string]schema
	}
	var api struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct{ Schema schema }
				}
			}
		}
	}
	if err := json.Unmarshal(described, &api); err != nil {
		t.Fatal(err)
	}
	got := api.Paths["/comments"].Post.RequestBody.Content["application/json"].Schema.Properties["target_type"].Enum
	if want := []string{"copy", "make", "thing"}; !slices.Equal(got, want) {
		t.Errorf("POST /comments: target_type is one of %q, want %q", got, want)
	}
}
