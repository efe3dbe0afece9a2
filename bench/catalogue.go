package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// engine is a database engine.
type engine string

const (
	postgres engine = "postgres"
	sqlite   engine = "sqlite"
)

// newDatabase creates an empty database, on PostgreSQL with the settings for the server. It returns
// the URL of the database and a function that removes it.
func newDatabase(ctx context.Context, o options, e engine,
	settings ...string) (address string, remove func() error, err error) {
	if e == sqlite {
		return "sqlite:" + filepath.Join(o.dir, "meshyard.db"), func() error { return nil }, nil
	}
	server, stop, err := pgtest.Start(ctx, settings...)
	if err != nil {
		return "", nil, err
	}
	address, drop, err := newDatabaseOn(ctx, server, emptyTemplate)
	if err != nil {
		stop()
		return "", nil, err
	}
	return address, func() error {
		defer stop()
		return drop()
	}, nil
}

// emptyTemplate is the end of CREATE DATABASE … TEMPLATE for an empty database.
const emptyTemplate = "template0 ENCODING 'UTF8'"

// newDatabaseOn creates a database on a PostgreSQL server from a template. The returned function
// removes the database.
func newDatabaseOn(ctx context.Context, server, template string) (address string, drop func() error, err error) {
	name := "meshyard_bench_" + strings.ToLower(rand.Text())
	if err := execute(ctx, server, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		return "", nil, err
	}
	u, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	u.Path = "/" + name
	return u.String(), func() error {
		return execute(context.WithoutCancel(ctx), server, "DROP DATABASE "+name+" WITH (FORCE)")
	}, nil
}

// onDatabase opens a database for a function.
func onDatabase(address string, use func(db *sql.DB) error) error {
	driver, name := "pgx", address
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		driver, name = "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		return err
	}
	return errors.Join(use(db), db.Close())
}

// execute runs statements on a database.
func execute(ctx context.Context, address string, statements ...string) error {
	return onDatabase(address, func(db *sql.DB) error {
		for _, s := range statements {
			if _, err := db.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%.200s: %w", s, err)
			}
		}
		return nil
	})
}

// query reads the only value that a statement selects.
func query(ctx context.Context, address, statement string, value any) error {
	return onDatabase(address, func(db *sql.DB) error { return db.QueryRowContext(ctx, statement).Scan(value) })
}

// newUser creates a user and returns a token with all scopes that the user may have. It creates the
// database if there is none.
func (o options) newUser(ctx context.Context, address, name string, flags ...string) (token string, err error) {
	if _, err := o.meshyard(ctx, address, append([]string{"user", "create", name}, flags...)...); err != nil {
		return "", err
	}
	scopes := "read,write"
	if slices.Contains(flags, "--admin") {
		scopes += ",admin"
	}
	token, err = o.meshyard(ctx, address, "token", "create", name, "--scope", scopes)
	return strings.TrimSpace(token), err
}

// catalogue is a database with a folder for its files.
type catalogue struct{ dir, address string }

// options returns the options for servers of the catalogue.
func (c *catalogue) options(o options) options {
	o.dir = c.dir
	return o
}

// create creates the database, on PostgreSQL from a template. server is empty for SQLite.
func (c *catalogue) create(ctx context.Context, server, template string) (err error) {
	c.address = "sqlite:" + filepath.Join(c.dir, "meshyard.db")
	if server != "" {
		c.address, _, err = newDatabaseOn(ctx, server, template)
	}
	return err
}

// copy copies a catalogue that is not in use.
func (c *catalogue) copy(ctx context.Context, server, name string) (*catalogue, error) {
	other := &catalogue{dir: filepath.Join(filepath.Dir(c.dir), name)}
	if err := os.CopyFS(other.dir, os.DirFS(c.dir)); err != nil {
		return nil, err
	}
	address, err := url.Parse(c.address)
	if err != nil {
		return nil, err
	}
	return other, other.create(ctx, server, strings.TrimPrefix(address.Path, "/"))
}

// tablesDir is the folder of the source tables that an import resamples, relative to the working
// directory.
const tablesDir = "testdata/catalogue"

// importCatalogue imports things from the source tables.
func (o options) importCatalogue(ctx context.Context, address string, things int) error {
	_, err := o.meshyard(ctx, address, "import", "catalogue", tablesDir, "--scale", strconv.Itoa(things))
	return err
}

// meshyard runs a command of the measured binary on a database, and returns what it prints.
func (o options) meshyard(ctx context.Context, address string, args ...string) (output string, err error) {
	cmd := exec.CommandContext(ctx, o.server, slices.Concat(args, []string{"--data", o.dir, "--database-url", address})...)
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("meshyard %v: %w: %.2000s", args, err, problem.String())
	}
	return string(out), err
}
