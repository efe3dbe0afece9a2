package servertest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/dataset"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/models"
)

// Mesh reads one of the files in testdata/meshes.
func Mesh(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(meshtest.Root(), "testdata", "meshes", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Meshes returns the paths of real model files for tests: those of the project and, if a larger
// collection exists in ../shared/data next to it, that as well.
func Meshes(t testing.TB) []string {
	t.Helper()
	dirs := []string{"testdata/meshes", "../shared/data/meshes", "../shared/data/malformed"}
	var paths []string
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(meshtest.Root(), dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".csv") && !strings.HasSuffix(path, ".md") {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil && !(os.IsNotExist(err) && strings.HasPrefix(dir, "..")) {
			t.Fatal(err)
		}
	}
	if len(paths) < 10 {
		t.Fatalf("only %d meshes: testdata/meshes is incomplete", len(paths))
	}
	return paths
}

// Catalogue imports the real things of testdata/catalogue.
func (s *Server) Catalogue() {
	s.t.Helper()
	tables, err := dataset.Open(filepath.Join(meshtest.Root(), "testdata", "catalogue"))
	if err != nil {
		s.t.Fatal(err)
	}
	im := models.Import{Source: "testdata", Total: tables.Len(), Things: tables.ThingsFrom, Skipped: func(string) {}}
	if _, err := s.Store.Import(context.Background(), im); err != nil {
		s.t.Fatal(err)
	}
}
