package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// This file compares the import of a catalogue on PostgreSQL with psql's \copy of the same rows
// into the same tables with their indexes.

const importThings = 10_000

// tablesDir is the folder of the source tables that the import resamples, relative to the working
// directory.
const tablesDir = "testdata/catalogue"

// importTables are the tables that an import fills, in an order that satisfies the foreign keys.
var importTables = []string{"users", "tags", "things", "thing_tags", "files", "imported_counts", "thing_documents", "user_documents", "vocabulary"}

func compareImports(ctx context.Context, o options) (err error) {
	// The database is durable, because an import waits for the flush of each transaction.
	server, stop, err := pgtest.StartDurable(ctx, o.place)
	if err != nil {
		return err
	}
	defer stop()
	things := cmp.Or(o.things, importThings)
	for _, c := range []struct {
		name   string
		before []string // statements that fill the catalogue
	}{
		{"an empty catalogue", nil}, // the import creates the indexes at the end
		{"a catalogue with things", []string{
			"INSERT INTO users (id, username, is_admin, created_at) VALUES (-1, 'before', false, now())",
			"INSERT INTO things (id, owner_id, name, state, license, category_id, description, instructions, is_wip, created_at, modified_at) VALUES (-1, -1, 'Before', 'draft', 'cc', 1, '', '', false, now(), now())",
		}},
	} {
		rates, err := compareImport(ctx, o, server, things, c.before)
		if err != nil {
			return err
		}
		t := newTable("import of %d things on PostgreSQL into %s, with the rows of their files, tags, authors and words;\n%d times in turns with \\copy of these rows", things, c.name, o.pairs)
		t.row("meshyard import catalogue, things/s", "%.0f", rates[0])
		t.row("psql \\copy into the same indexed tables, things/s", "%.0f", rates[1])
		t.atLeast("ratio", "%.2f", rates[0].over(rates[1]), 0.6)
		t.print()
	}
	return nil
}

// compareImport returns the rates of the import and of \copy.
func compareImport(ctx context.Context, o options, server string, things int, before []string) (rates [2]series, err error) {
	rows, err := os.MkdirTemp(o.dir, "rows-")
	if err != nil {
		return rates, err
	}
	took := func(fill func(address string) error) (d time.Duration, err error) {
		address, drop, err := newDatabaseOn(ctx, server, emptyTemplate)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, drop()) }()
		if _, err := o.meshyard(ctx, address, "migrate"); err != nil {
			return 0, err
		}
		// CHECKPOINT, so that the writes of one turn do not slow down the next.
		if err := execute(ctx, postgres, address, append(before, "CHECKPOINT")...); err != nil {
			return 0, err
		}
		began := time.Now()
		err = fill(address)
		return time.Since(began), err
	}
	imported := func(address string) error {
		_, err := o.meshyard(ctx, address, "import", "catalogue", tablesDir, "--scale", strconv.Itoa(things))
		return err
	}
	copied := func(direction string) func(address string) error {
		return func(address string) error {
			args := []string{"--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", address}
			for _, table := range importTables {
				args = append(args, "-c", `\copy `+table+" "+direction+" '"+filepath.Join(rows, table)+"'")
			}
			return runQuietly(exec.CommandContext(ctx, "psql", args...))
		}
	}
	source, drop, err := newDatabaseOn(ctx, server, emptyTemplate)
	if err != nil {
		return rates, err
	}
	if err := errors.Join(imported(source), copied("TO")(source), drop()); err != nil {
		return rates, err
	}
	for i := range o.pairs {
		for _, side := range inTurns(i, 0, 1) {
			d, err := took([]func(string) error{imported, copied("FROM")}[side])
			if err != nil {
				return rates, err
			}
			rates[side] = append(rates[side], float64(things)/d.Seconds())
		}
	}
	return rates, nil
}

// importCatalogue imports things from the source tables into a database. It returns the peak memory
// of the process in KiB and the log.
func (o options) importCatalogue(ctx context.Context, address string, things int) (peak int64, log string, err error) {
	cmd := exec.CommandContext(ctx, o.server, "import", "catalogue", tablesDir, "--scale", strconv.Itoa(things), "--data", o.dir, "--database-url", address)
	var text strings.Builder
	cmd.Stderr = &text
	if err := cmd.Run(); err != nil {
		return 0, "", fmt.Errorf("import: %w: %.2000s", err, text.String())
	}
	return peakMemory(cmd.ProcessState), text.String(), nil
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

// runQuietly runs a command. If it fails, the error contains its output.
func runQuietly(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %.2000s", filepath.Base(cmd.Path), err, out)
	}
	return nil
}
