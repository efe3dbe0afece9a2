package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFresh checks that the generated file corresponds to the schema and the documents.
func TestFresh(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..", "..")
	schema, err := loadSchema(root)
	if err != nil {
		t.Fatal(err)
	}
	want, err := generate(schema)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, output))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the schema and the documents give: run go run ./internal/web/gallery/typings, then make web",
			output)
	}
}
