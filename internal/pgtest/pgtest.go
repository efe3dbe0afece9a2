// Package pgtest provides databases for tests on a real PostgreSQL server, version 13 or newer.
//
// The server is the one that MESHYARD_TEST_POSTGRES names, otherwise a private one of the test
// process, started on first use from the installed binaries. As root on a machine with apt-get, the
// package installs PostgreSQL if it is missing. Otherwise a machine without PostgreSQL fails the
// tests; silently skipping them would hide errors.
//
// With the build tag pgbouncer, the URLs of databases lead to a PgBouncer in transaction mode.
//
// A private server needs Unix. On other systems, the tests need MESHYARD_TEST_POSTGRES.
package pgtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Variable is the environment variable with the URL of the server for tests: a postgres:// URL of a
// role that may create databases.
const Variable = "MESHYARD_TEST_POSTGRES"

// Start returns the URL of a server, and a function that stops it and removes its data. ctx bounds
// only the start. A URL from the environment is not checked, and stop does nothing then. A private
// server that is not stopped ends with the process, however that ends, and its data is removed.
//
// The settings, such as shared_buffers=1GB, override those of a private server.
func Start(ctx context.Context, settings ...string) (address string, stop func(), err error) {
	if address := os.Getenv(Variable); address != "" {
		return address, func() {}, nil
	}
	return startForgetful(ctx, settings)
}

// Database creates an empty database with the encoding UTF8 and returns its postgres:// URL. The
// database is dropped when the test ends, even if clients are still connected. Database is safe in
// parallel tests.
func Database(t testing.TB) string {
	t.Helper()
	// template0 accepts no connections; a session in template1 would make the copy fail.
	return create(t, "template0 ENCODING 'UTF8'")
}

// Encoded is like Database, with another encoding.
func Encoded(t testing.TB, encoding string) string {
	t.Helper()
	// The locale C allows all encodings.
	return create(t, fmt.Sprintf("template0 ENCODING '%s' LOCALE 'C'", encoding))
}

// Localized is like Database, with a locale of ICU, such as tr-TR, for sorting and letter case.
// PostgreSQL before version 15 has no such databases; then it has the locale of the server.
func Localized(t testing.TB, locale string) string {
	t.Helper()
	source := "template0 ENCODING 'UTF8'"
	if s, err := shared(); err == nil && s.strategy != "" {
		source += fmt.Sprintf(" LOCALE_PROVIDER icu ICU_LOCALE '%s'", locale)
	}
	return create(t, source)
}

// Template is a database that is created once in a process and copied for each test: a copy is
// faster than migrating an empty database. Store it in a package variable of the tests.
type Template struct {
	name func() (string, error)
}

// NewTemplate returns a template that fill creates from an empty database on first use. When fill
// returns, remaining sessions are terminated. An error of fill fails every test that uses the
// template.
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

// Database creates a copy of the template and returns its postgres:// URL. The copy is dropped when
// the test ends, even if clients are still connected. Database is safe in parallel tests.
func (p *Template) Database(t testing.TB) string {
	t.Helper()
	name, err := p.name()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return create(t, name)
}

// create copies a database. source is the end of CREATE DATABASE … TEMPLATE.
func create(t testing.TB, source string) string {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	name := s.newName()
	if err := s.exec(fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s%s", name, source, s.strategy)); err != nil {
		t.Fatalf("pgtest: create database: %v", err)
	}
	t.Cleanup(func() {
		if err := s.exec(fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", name)); err != nil {
			t.Errorf("pgtest: drop database: %v", err)
		}
	})
	address, err := s.clientAddress(name)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return address
}
