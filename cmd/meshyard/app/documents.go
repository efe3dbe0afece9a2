package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/graphiql"
	"github.com/meshyard/meshyard/rest"
)

// documents are the registered documents: those that the server shows to its clients, in the guide and in GraphiQL, and the operator's own.
func (a *App) documents(g *graph.Graph) ([]graph.Document, error) {
	all, err := rest.Stored(g)
	if err != nil {
		return nil, err
	}
	for _, example := range graphiql.Examples() {
		all = append(all, graph.Document{Name: "of the example «" + example.Title + "»", Text: example.Query})
	}
	if a.Settings.Documents == "" {
		return all, nil
	}
	files, err := os.ReadDir(a.Settings.Documents)
	if err != nil {
		return nil, fmt.Errorf("--documents: %w", err)
	}
	for _, file := range files {
		if file.IsDir() || !strings.HasSuffix(file.Name(), ".graphql") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(a.Settings.Documents, file.Name()))
		if err != nil {
			return nil, fmt.Errorf("--documents: %w", err)
		}
		all = append(all, graph.Document{Name: file.Name(), Text: string(text)})
	}
	return all, nil
}
