// Package pgtest gives tests empty or filled databases on a real PostgreSQL server, 13 or newer.
//
// The server is the one that MESHYARD_TEST_POSTGRES names, else a private one of the test process, started on first
// use from the installed binaries. A machine without PostgreSQL fails the tests: one that silently skipped them would
// be worth nothing. As root on a machine with apt-get, PostgreSQL is installed first.
//
// The package runs on Unix only.
package pgtest

import (
	"fmt"
	"sync"
	"testing"
)

// Database creates an empty database of encoding UTF8 and returns its address, a postgres:// URL. The database is
// dropped when the test ends, whoever is still connected. Safe in parallel tests.
func Database(t testing.TB) string {
	t.Helper()
	// template0, because nobody can be connected to it: a session in template1 would make the copy fail.
	return create(t, "template0 ENCODING 'UTF8'")
}

// Template is a database made once in a process and copied for every test that asks: a copy costs less than
// migrating an empty database. Keep it in a package variable of the tests.
type Template struct {
	name func() (string, error)
}

// NewTemplate returns a template that fill makes out of an empty database on first use. When fill returns, sessions
// it left open are ended. An error of fill fails every test that asks for a copy.
func NewTemplate(fill func(address string) error) *Template {
	return &Template{name: sync.OnceValues(func() (string, error) {
		s, err := shared()
		if err != nil {
			return "", err
		}
		name := s.newName()
		if err := s.exec(fmt.Sprintf("CREATE DATABASE %s TEMPLATE template0 ENCODING 'UTF8'", name)); err != nil {
			return "", fmt.Errorf("create template: %w", err)
		}
		if err := fill(s.addressOf(name)); err != nil {
			return "", fmt.Errorf("fill template: %w", err)
		}
		return name, s.seal(name)
	})}
}

// Database creates a copy of the template and returns its address, a postgres:// URL. The copy is dropped when the
// test ends, whoever is still connected. Safe in parallel tests.
func (p *Template) Database(t testing.TB) string {
	t.Helper()
	name, err := p.name()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return create(t, name)
}

// create copies the database that source, the rest of CREATE DATABASE … TEMPLATE, names.
func create(t testing.TB, source string) string {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	name := s.newName()
	if err := s.exec(fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, source)); err != nil {
		t.Fatalf("pgtest: create database: %v", err)
	}
	t.Cleanup(func() {
		if err := s.exec(fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", name)); err != nil {
			t.Errorf("pgtest: drop database: %v", err)
		}
	})
	return s.addressOf(name)
}
