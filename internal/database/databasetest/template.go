// Package databasetest creates databases for tests on each engine.
package databasetest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/pgtest"
)

// Template is a database that is created once for each engine in a process and copied for each
// test: a copy is faster than migrating an empty database. Store it in a package variable of the
// tests.
type Template struct {
	postgres *pgtest.Template
	sqlite   func() ([]byte, error) // the content of the file
}

// NewTemplate returns a template that fill creates from an empty database on the first use of an
// engine. fill receives the URL of the database and must close it. An error of fill fails every
// test that uses the template.
func NewTemplate(fill func(address string) error) *Template {
	return &Template{
		postgres: pgtest.NewTemplate(fill),
		sqlite: sync.OnceValues(func() ([]byte, error) {
			dir, err := os.MkdirTemp("", "meshyard-template-")
			if err != nil {
				return nil, err
			}
			defer os.RemoveAll(dir)
			path := filepath.Join(dir, "meshyard.db")
			if err := fill("sqlite:" + path); err != nil {
				return nil, err
			}
			return os.ReadFile(path) // closing the database has moved its journal into the file
		}),
	}
}

// Database creates a copy of the template and returns its URL. On SQLite, it is the file
// meshyard.db in dir. On PostgreSQL, it is dropped when the test ends. Database is safe in parallel
// tests.
func (p *Template) Database(t testing.TB, engine database.Engine, dir string) string {
	t.Helper()
	if engine == database.Postgres {
		return p.postgres.Database(t)
	}
	path := filepath.Join(dir, "meshyard.db")
	content, err := p.sqlite()
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}
