package servertest

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/dataset"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/models/importer"
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

// Image returns a PNG. Its content is unique for a number. It is not enough to append the number,
// because what follows an image is not stored.
func Image(t testing.TB, number uint32) []byte {
	t.Helper()
	png := Mesh(t, "lib3mf_thumbnail.png")
	const header = 8 + 12 + 13
	chunk := binary.BigEndian.AppendUint32([]byte("pHYs"), number) // pixels for each unit
	chunk = append(binary.BigEndian.AppendUint32(chunk, number), 0)
	sum := crc32.ChecksumIEEE(chunk)
	chunk = binary.BigEndian.AppendUint32(append([]byte{0, 0, 0, 9}, chunk...), sum)
	return slices.Concat(png[:header], chunk, png[header:])
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
	im := importer.Import{Source: "testdata", Total: tables.Len(), Things: tables.ThingsFrom, Skipped: func(string) {}}
	if _, err := s.Store.Importer.Import(context.Background(), im); err != nil {
		s.t.Fatal(err)
	}
}
