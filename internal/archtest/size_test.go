package archtest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	// maxFileLines is the maximum length of a hand-written file outside tests. A file holds one
	// noun; a longer one holds several.
	maxFileLines = 400
	// maxGraphLines is the maximum length of all hand-written files below graph/, except resolvers,
	// which the schema determines. Rules belong in models, the protocol in
	// internal/graphql/graphqlhttp.
	maxGraphLines = 3_400
)

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// TestFileSizes checks the length of hand-written files.
func TestFileSizes(t *testing.T) {
	root := filepath.Join("..", "..")
	graph, files := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "data" || strings.HasPrefix(d.Name(), ".") &&
			path != root) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if generated.Match(text) {
			return nil
		}
		files++
		name, _ := filepath.Rel(root, path)
		n := bytes.Count(text, []byte("\n"))
		if n > maxFileLines {
			t.Errorf("%s has %d lines, the limit is %d: split it by noun", name, n, maxFileLines)
		}
		if strings.HasPrefix(filepath.ToSlash(name), "graph/") && !strings.HasSuffix(name, ".resolvers.go") {
			graph += n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 || graph == 0 {
		t.Errorf("found only %d files, %d lines below graph/", files, graph)
	}
	if graph > maxGraphLines {
		t.Errorf("graph/ has %d hand-written lines besides resolvers, the limit is %d", graph, maxGraphLines)
	}
}
