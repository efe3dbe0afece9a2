package pgdump

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/meshyard/meshyard/internal/database"
)

// Restore restores a file that Dump wrote into a database without tables, completely or not at all.
// It restores only what the role can create as the owner of the database: the objects of the schema
// with the tables, but not the schema, extensions and comments, which may belong to an
// administrator and are there already.
//
// The index of trigrams is created after the rest, because its definition in the file names the
// schema of the extension, which may be another one in this database.
func Restore(ctx context.Context, address, file string) error {
	list, schema, err := contents(ctx, address, file)
	if err != nil {
		return err
	}
	db, err := database.Open(ctx, address)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := prepare(ctx, db, schema); err != nil {
		return err
	}
	chosen, err := os.CreateTemp("", "meshyard-pg-list-")
	if err != nil {
		return err
	}
	defer os.Remove(chosen.Name())
	_, err = chosen.WriteString(strings.Join(list, "\n") + "\n")
	if err := errors.Join(err, chosen.Close()); err != nil {
		return err
	}
	err = run(ctx, address, "pg_restore", "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error",
		"--use-list="+chosen.Name(), file)
	if err != nil {
		return err
	}
	return complete(ctx, db)
}

// Prepare creates what a restore needs and the file does not contain. It returns an error that says
// what an administrator must do if the role may not create it. Restore does the same; Prepare is
// for a check before other steps.
func Prepare(ctx context.Context, address, file string) error {
	_, schema, err := contents(ctx, address, file)
	if err != nil {
		return err
	}
	db, err := database.Open(ctx, address)
	if err != nil {
		return err
	}
	return errors.Join(prepare(ctx, db, schema), db.Close())
}

// Complete does the last step of a Restore that was interrupted after pg_restore.
func Complete(ctx context.Context, address string) error {
	db, err := database.Open(ctx, address)
	if err != nil {
		return err
	}
	return errors.Join(complete(ctx, db), db.Close())
}

func complete(ctx context.Context, db *database.DB) error {
	if _, err := db.SQL().
		ExecContext(ctx, "CREATE INDEX IF NOT EXISTS "+trigramIndex+" ON vocabulary USING gin (word gin_trgm_ops)"); err != nil {
		return fmt.Errorf("create the index %s: %w", trigramIndex, err)
	}
	return nil
}

// trigramIndex is the index that needs the extension pg_trgm.
const trigramIndex = "vocabulary_trigrams"

// tablesEntry matches the entry of the table of migrations in the list of a file.
var tablesEntry = regexp.MustCompile(`(?m)^\d+; \d+ \d+ TABLE (.+) schema_migrations `)

// contents returns the entries of a file to restore, and the schema that they are in.
func contents(ctx context.Context, address, file string) (entries []string, schema string, err error) {
	out, err := output(ctx, address, "pg_restore", "--list", file)
	if err != nil {
		return nil, "", err
	}
	found := tablesEntry.FindStringSubmatch(out)
	if found == nil {
		return nil, "", fmt.Errorf("%s: does not contain the tables of meshyard", file)
	}
	schema = found[1]
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		_, what, isEntry := strings.Cut(line, "; ")
		fields := strings.Fields(what)
		if !isEntry || strings.HasPrefix(line, ";") || len(fields) < 4 {
			continue
		}
		what = strings.Join(fields[2:], " ") // after two IDs
		isOther := func(kind string) bool { return strings.HasPrefix(what, kind+" ") }
		if slices.ContainsFunc([]string{"SCHEMA", "EXTENSION", "COMMENT", "ACL", "DEFAULT ACL", "INDEX " + schema + " " +
			trigramIndex}, isOther) {
			continue
		}
		// Settings of the file, such as ENCODING and SEARCHPATH, have no schema, and are not listed.
		if strings.Contains(what, " "+schema+" ") {
			entries = append(entries, line)
		}
	}
	return entries, schema, nil
}

// prepare creates the schema and the extension pg_trgm if they are missing. It returns an error
// that says what an administrator must do if the role may not create them, or if the search_path
// does not contain them.
func prepare(ctx context.Context, db *database.DB, schema string) error {
	conn := db.SQL()
	var role string
	var exists bool
	if err := conn.QueryRowContext(ctx, "SELECT current_user, to_regnamespace(quote_ident($1)) IS NOT NULL", schema).
		Scan(&role, &exists); err != nil {
		return err
	}
	if !exists {
		if _, err := conn.ExecContext(ctx, "CREATE SCHEMA "+pgx.Identifier{schema}.Sanitize()); err != nil {
			return fmt.Errorf("create the schema %q of the backup: %w: an administrator must run CREATE SCHEMA %q AUTHORIZATION %q", schema, err, schema, role)
		}
	}
	var current *string
	if err := conn.QueryRowContext(ctx, "SELECT current_schema()").Scan(&current); err != nil {
		return err
	}
	if current == nil || *current != schema {
		return fmt.Errorf("the backup has the tables in the schema %q, which is not the first one in the search_path of the role: run ALTER ROLE %q SET search_path = %q, public", schema, role, schema)
	}
	if _, err := conn.ExecContext(ctx, "CREATE EXTENSION IF NOT EXISTS pg_trgm"); err != nil {
		return fmt.Errorf("create the extension pg_trgm: %w: an administrator must run CREATE EXTENSION pg_trgm in this database", err)
	}
	return db.CheckTrigrams(ctx, db.Write)
}
