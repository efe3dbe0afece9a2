package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/pgtest"
	"github.com/meshyard/meshyard/models"
)

// This file compares the server with a bare handler and with PostGraphile, on the same database and
// in the same turns, and prints one table.

const peerThings = 100_000

func comparePeers(ctx context.Context, o options) (err error) {
	// The database is durable, because the comparison includes downloads, whose main optimization is
	// to flush fewer commits.
	server, stop, err := pgtest.StartDurable(ctx, o.place)
	if err != nil {
		return err
	}
	address, drop, err := newDatabaseOn(ctx, server, stop)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop()) }()
	a, token, err := openCatalogue(ctx, o, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	things := cmp.Or(o.things, peerThings)
	if err := fillListing(ctx, postgres, address, things); err != nil {
		return err
	}
	tokens, err := newCallers(ctx, a.Store)
	if err != nil {
		return err
	}
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var version string
	if err := db.QueryRowContext(ctx, "SHOW server_version").Scan(&version); err != nil {
		return err
	}
	all, err := startContenders(ctx, o, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, all.stop()) }()
	works, err := newWorks(ctx, o, a.Store, db, all, token, things*filesOfThing)
	if err != nil {
		return err
	}
	works = slices.DeleteFunc(works, func(w *work) bool { return !strings.Contains(w.name, o.rows) })
	for _, w := range works {
		if err := w.run(ctx, o, all, token, tokens); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	fmt.Printf("\n%d things on PostgreSQL %s, %s, %d processors;\n%d keep-alive connections, each with a token and pages of its own; medians of %d turns of %s\n\n",
		things, version, runtime.Version(), runtime.NumCPU(), o.conns, o.pairs, o.round)
	printWorks(works, all)
	return nil
}

// maxCallers is the number of callers. If there are more connections, they share the callers.
const maxCallers = 64

// newCallers creates tokens for maxCallers users who created things.
func newCallers(ctx context.Context, store *models.Store) (tokens []string, err error) {
	for id := 2; id < 2+maxCallers; id++ {
		token, err := store.Admin().CreateToken(ctx, "maker-"+strconv.Itoa(id), "bench", auth.Scopes{auth.Read, auth.Write}, 0)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}
