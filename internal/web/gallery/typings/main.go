// Command typings writes web/src/generated.ts: the GraphQL documents of the gallery with TypeScript
// types for their variables and results, derived from the schema.
//
//	go run ./internal/web/gallery/typings
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "typings:", err)
		os.Exit(1)
	}
}

// output is the path of the file, below the root of the repository.
const output = "web/src/generated.ts"

func run(root string) error {
	schema, err := loadSchema(root)
	if err != nil {
		return err
	}
	text, err := generate(schema)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, output), []byte(text), 0o644)
}

// loadSchema reads the schema files of a repository.
func loadSchema(root string) (*ast.Schema, error) {
	names, err := filepath.Glob(filepath.Join(root, "graph", "*.graphqls"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no schema files below %s: %w", root, err)
	}
	var sources []*ast.Source
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, &ast.Source{Name: name, Input: string(text)})
	}
	return gqlparser.LoadSchema(sources...)
}
