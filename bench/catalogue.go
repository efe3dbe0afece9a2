package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
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
	"github.com/meshyard/meshyard/internal/markdown"
	"github.com/meshyard/meshyard/internal/pgtest"
)

// engine is a database engine.
type engine string

const (
	postgres engine = "postgres"
	sqlite   engine = "sqlite"
)

const (
	filesPerThing = 3   // typical for such catalogues
	newEvery      = 100 // one file in this many has a download that is not in its stored count
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
	return newDatabaseOn(ctx, server, stop)
}

// newDatabaseOn creates an empty database on a PostgreSQL server. The returned function removes the
// database and then stops the server.
func newDatabaseOn(ctx context.Context, server string, stop func()) (address string, drop func() error, err error) {
	name := "meshyard_bench_" + strings.ToLower(rand.Text())
	if err := execute(ctx, postgres, server, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		stop()
		return "", nil, err
	}
	u, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	u.Path = "/" + name
	return u.String(), func() error {
		defer stop()
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

// fill creates finalized files, with IDs starting at 1, that are attached to published things. Each
// file has a download, and some downloads are not yet added to the stored counts. It ends with
// VACUUM and ANALYZE, because a private test server runs no autovacuum.
func fill(ctx context.Context, e engine, address string, files int) error {
	const at = "'2026-03-04 05:06:07.008009+00:00'"
	var things, contents, rows, downloads []string
	for id := 1; id <= files; id++ {
		thing := (id-1)/filesPerThing + 1
		if id == (thing-1)*filesPerThing+1 {
			things = append(things, fmt.Sprintf("(%d, 1, 'Thing %[1]d', 'published', 'cc', 1, '%[3]s', '', false, %[2]s, %[2]s, %[2]s, '<p>%[3]s</p>', %[4]d)", thing, at, description, markdown.Version))
		}
		sum := sha256.Sum256(fmt.Append(nil, id))
		contents = append(contents, fmt.Sprintf("('%x', 1234567, %s)", sum, at))
		rows = append(rows, fmt.Sprintf("(%d, 1, 'part-%[1]d.stl', 'model', 'finalized', %[2]d, 'model/stl', '%[3]x', '%[4]x', '', 'thing', %[5]d, %[5]d, %[6]d, %[7]d, %[8]s, %[8]s, NULL)",
			id, 1000+37*id, sum, sum[:16], thing, 10*(id%filesPerThing), id%50, at))
		downloads = append(downloads, fmt.Sprintf("(1, %d, %d, %s)", id, thing, at))
	}
	statements := insert("things (id, owner_id, name, state, license, category_id, description, instructions, is_wip, created_at, modified_at, published_at, description_html, html_version)", things)
	statements = append(statements, insert("contents (sha256, size, created_at)", contents)...)
	statements = append(statements, insert("files (id, owner_id, name, kind, state, size, content_type, sha256, md5, object_key, target_type, target_id, thing_id, rank, download_count, created_at, finalized_at, expires_at)", rows)...)
	statements = append(statements, insert("downloads (user_id, file_id, thing_id, created_at)", downloads)...)
	statements = append(statements, fmt.Sprintf("INSERT INTO new_downloads (id, thing_id, file_id) SELECT id, thing_id, file_id FROM downloads WHERE file_id %% %d = 0", newEvery))
	statements = append(statements, "VACUUM", "ANALYZE")
	return execute(ctx, e, address, statements...)
}

func insert(into string, rows []string) (statements []string) {
	for len(rows) > 0 {
		n := min(len(rows), 1000)
		statements = append(statements, "INSERT INTO "+into+" VALUES "+strings.Join(rows[:n], ", "))
		rows = rows[n:]
	}
	return statements
}
