package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/pgtest"
)

// engine is a database engine.
type engine string

const (
	postgres engine = "postgres"
	sqlite   engine = "sqlite"
)

// description has a typical length. With one-line descriptions, all things would fit into so few
// database pages that PostgreSQL would scan all of them for each statement, as it does only in very
// small catalogues.
var description = strings.Repeat("Print it flat, without supports, and sand the edges before you glue the halves. ", 8)

// newCatalogue creates an empty catalogue in the folder of the run, with the default settings of a
// server, and returns the token of a user.
func newCatalogue(ctx context.Context, o options) (token string, err error) {
	a, token, err := openCatalogue(ctx, o, "")
	if err != nil {
		return "", err
	}
	return token, a.Close()
}

// openCatalogue opens an empty catalogue and creates a user with a token. If address is empty, the
// database is SQLite in the folder of the run.
func openCatalogue(ctx context.Context, o options, address string) (a *server.Server, token string, err error) {
	s := config.Settings{Data: o.dir, DatabaseURL: address, Listen: "127.0.0.1:80", UploadLimit: 1 << 30, PendingTTL: time.Hour, WebhookTimeout: time.Second, AnonymousRead: true}
	if err := s.Complete(); err != nil {
		return nil, "", err
	}
	if a, err = server.Open(ctx, s, slog.New(slog.DiscardHandler)); err != nil {
		return nil, "", err
	}
	if _, err = a.Store.Admin().CreateUser(ctx, "bench", false); err == nil {
		token, err = a.Store.Admin().CreateToken(ctx, "bench", "bench", auth.Scopes{auth.Read, auth.Write}, 0)
	}
	if err != nil {
		return nil, "", errors.Join(err, a.Close())
	}
	return a, token, nil
}

// newDatabaseWithCatalogue opens an empty catalogue in a new database. The returned function closes
// it and removes the database.
func newDatabaseWithCatalogue(ctx context.Context, o options, e engine) (address string, a *server.Server, token string, closeAll func() error, err error) {
	address, drop, err := newDatabase(ctx, o, e)
	if err != nil {
		return "", nil, "", nil, err
	}
	if a, token, err = openCatalogue(ctx, o, address); err != nil {
		return "", nil, "", nil, errors.Join(err, drop())
	}
	return address, a, token, func() error { return errors.Join(a.Close(), drop()) }, nil
}

// newDatabase creates an empty database, on PostgreSQL with the settings for the server. It returns
// the URL of the database and a function that removes it.
func newDatabase(ctx context.Context, o options, e engine, settings ...string) (address string, drop func() error, err error) {
	if e == sqlite {
		return "sqlite:" + filepath.Join(o.dir, "meshyard.db"), func() error { return nil }, nil
	}
	server, stop, err := pgtest.Start(ctx, settings...)
	if err != nil {
		return "", nil, err
	}
	address, drop, err = newDatabaseOn(ctx, server, emptyTemplate)
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
	if err := execute(ctx, postgres, server, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		return "", nil, err
	}
	u, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	u.Path = "/" + name
	return u.String(), func() error {
		return execute(context.WithoutCancel(ctx), postgres, server, "DROP DATABASE "+name+" WITH (FORCE)")
	}, nil
}

// execute runs statements on a new connection.
func execute(ctx context.Context, e engine, address string, statements ...string) (err error) {
	driver := "pgx"
	if e == sqlite {
		driver, address = "sqlite", "file:"+strings.TrimPrefix(address, "sqlite:")+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%.200s: %w", s, err)
		}
	}
	return nil
}

// query returns the only value that a statement selects, as text.
func query(ctx context.Context, address, statement string) (value string, err error) {
	driver, name := "pgx", address
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		driver, name = "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		return "", err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, statement).Scan(&value)
	return value, err
}
