package server

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/internal/web/gallery"
	"github.com/meshyard/meshyard/internal/web/graphiql"
	"github.com/meshyard/meshyard/internal/web/pages"
	"github.com/meshyard/meshyard/rest"
)

// Documents returns the registered documents: the REST operations as the guide shows them, those of
// the front page, of GraphiQL and of the gallery, and the .graphql files of the operator.
func Documents(s config.Settings, g *graph.Graph) ([]graphqlhttp.Document, error) {
	all, err := rest.Stored(g)
	if err != nil {
		return nil, err
	}
	all = append(all, graphqlhttp.Document{Name: "front-page", Text: pages.ExampleDocument})
	for _, example := range graphiql.Examples() {
		all = append(all, graphqlhttp.Document{Name: "GraphiQL, " + example.Title, Text: example.Query})
	}
	all = append(all, gallery.Documents()...)
	if s.Documents == "" {
		return all, nil
	}
	files, err := os.ReadDir(s.Documents)
	if err != nil {
		return nil, &config.InvalidError{Err: fmt.Errorf("--documents: %w", err)}
	}
	files = slices.DeleteFunc(files, func(f os.DirEntry) bool {
		return f.IsDir() ||
			!strings.HasSuffix(f.Name(), ".graphql")
	})
	if len(files) == 0 {
		return nil, &config.InvalidError{Err: fmt.Errorf("--documents: no file in %s ends in .graphql", s.Documents)}
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(s.Documents, file.Name()))
		if err != nil {
			return nil, &config.InvalidError{Err: fmt.Errorf("--documents: %w", err)}
		}
		all = append(all, graphqlhttp.Document{Name: file.Name(), Text: string(text)})
	}
	return all, nil
}
