package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/models"
)

// This file compares a catalogue of a million things with a catalogue of ten thousand. Both should
// be about equally fast. They are generated from the same tables with the same distribution, and
// measured in alternating turns.

// bufferedPages lets PostgreSQL hold the rows of all pages that are compared. The 64 MB of servers
// for tests hold those of the small catalogue only: among a million things, PostgreSQL then read
// 340 blocks of 8 KiB from the operating system for each page of /popular.
const bufferedPages = "shared_buffers=1GB"

// sized is a catalogue of a certain size with a server.
type sized struct {
	things  int
	address string // of the database
	app     *server.Server
	db      *sql.DB
	token   string
	server  *process
}

// compareSizes imports a small and a large catalogue and compares lists, pages and searches.
func compareSizes(ctx context.Context, o options, e engine, small, large int) (err error) {
	var sizes [2]*sized
	for i, n := range []int{small, large} {
		c, closeAll, err := newSized(ctx, o, e, n)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeAll()) }()
		sizes[i] = c
	}
	if err := compareLists(ctx, o, sizes[0], sizes[1]); err != nil {
		return err
	}
	if err := comparePageDepths(ctx, o, sizes[1]); err != nil {
		return err
	}
	return compareSearches(ctx, o, e, sizes[1])
}

// newSized imports a catalogue, prints the rate and the peak memory of the import, and starts a
// server.
func newSized(ctx context.Context, o options, e engine, n int) (c *sized, closeAll func() error, err error) {
	o.dir = filepath.Join(o.dir, strconv.Itoa(n))
	if err := os.Mkdir(o.dir, 0o750); err != nil {
		return nil, nil, err
	}
	address, drop, err := newDatabase(ctx, o, e, bufferedPages)
	if err != nil {
		return nil, nil, err
	}
	c = &sized{things: n, address: address}
	began := time.Now()
	peak, log, err := o.importCatalogue(ctx, address, n)
	if err != nil {
		return nil, nil, err
	}
	t := newTable("import of %d things with the rows of their files, tags, authors and words, on %s", n, e)
	t.row("things a second, indexes and counts included", "%.0f", series{float64(n) / time.Since(began).Seconds()})
	t.row("things a second while rows are loaded", "%.0f", series{loadRate(log)})
	t.below("peak memory of the process, MiB", "%.0f", series{float64(peak) / 1024}, 256)
	t.print()
	if c.app, c.token, err = openCatalogue(ctx, o, address); err != nil {
		return nil, nil, err
	}
	opened, err := models.OpenDB(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	c.db = opened.SQL()
	if err := c.feature(ctx, e); err != nil {
		return nil, nil, err
	}
	if c.server, err = startServer(ctx, o, "--database-url", address); err != nil {
		return nil, nil, err
	}
	return c, func() error { return errors.Join(c.server.stop(), opened.Close(), c.app.Close(), drop()) }, nil
}

// feature features enough things for listedPages pages in the smallest catalogue. Then it does what
// autovacuum does on another server: at the last ANALYZE, no thing was featured. The update has
// removed pages from the visibility map, without which lists read each row that they skip. And
// lists pass the entries of folded changes in the index of count_changes.
func (c *sized) feature(ctx context.Context, e engine) error {
	if _, err := c.db.ExecContext(ctx, "UPDATE things SET featured_at = published_at WHERE id % 8 = 0"); err != nil {
		return err
	}
	if _, err := c.app.Store.FoldCounts(ctx); err != nil {
		return err
	}
	_, err := c.db.ExecContext(ctx, map[engine]string{postgres: "VACUUM (ANALYZE) things, categories, count_changes", sqlite: "ANALYZE things"}[e])
	return err
}

// tablesDir is the folder of the source tables that the import resamples, relative to the working
// directory.
const tablesDir = "testdata/catalogue"

// loadRate returns the last rate in the log of an import.
func loadRate(log string) float64 {
	rate := 0.0
	for line := range strings.Lines(log) {
		if _, rest, ok := strings.Cut(line, " things, "); ok {
			if n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64); err == nil {
				rate = n
			}
		}
	}
	return rate
}

// latency sends the requests repeatedly over one connection, in order, and returns the result.
func (c *sized) latency(ctx context.Context, o options, requests []request) (turn, error) {
	texts := make([][]byte, len(requests))
	for i, r := range requests {
		texts[i] = r.text(c.server.address, c.token)
	}
	sent := 0
	generator, err := newLoadGenerator(c.server.address, 1, func(int) []byte {
		sent++
		return texts[sent%len(texts)]
	})
	if err != nil {
		return turn{}, err
	}
	defer generator.close()
	return generator.run(ctx, o.round/4)
}

// ratio measures two sets of requests in alternating turns. It returns the median latencies of the
// second set relative to the first, and the mean response sizes relative to the first.
func ratio(ctx context.Context, o options, a, b *sized, first, second []request) (latency, size series, err error) {
	var times, sizes [2]series
	for i := -1; i < o.pairs; i++ { // the first turn is a warm-up
		for _, side := range inTurns(i+1, 0, 1) {
			c, r := a, first
			if side == 1 {
				c, r = b, second
			}
			got, err := c.latency(ctx, o, r)
			if err != nil {
				return nil, nil, err
			}
			if i >= 0 {
				times[side] = append(times[side], got.median.Seconds())
				sizes[side] = append(sizes[side], got.size)
			}
		}
	}
	return times[1].over(times[0]), sizes[1].over(sizes[0]), nil
}

// pages returns requests for n successive pages. Comparisons use several pages, because the size of
// a single page depends on how many tags and files its things have.
func pages(page func(number int) request, from, n int) []request {
	requests := make([]request, n)
	for i := range requests {
		requests[i] = page(from + i)
	}
	return requests
}

// listPage returns a function that returns the request for a page of a REST list.
func listPage(list string) func(number int) request {
	return func(number int) request {
		return request{http.MethodGet, fmt.Sprintf("/%s?per_page=30&page=%d", list, number), ""}
	}
}

const nestedDocument = `query ($after: String) { things(first: 30, after: $after) { nodes { id name createdAt creator { username } tags { name thingCount } image { id } files(first: 10) { id name size } } } }`

// listedPages is the number of pages of each list that are compared. With ten, the pages of one
// catalogue were 1.1 times as large as those of the other, because their things happened to have
// more tags and files.
const listedPages = 40

func compareLists(ctx context.Context, o options, small, large *sized) error {
	t := newTable("median latency with %d things, relative to %d", large.things, small.things)
	nested := func(number int) request { return graphRequest(nestedDocument, graph.PageCursor(number)) }
	for _, list := range []struct {
		name  string
		pages []request
	}{
		{"GET /newest", pages(listPage("newest"), 1, listedPages)}, {"GET /popular", pages(listPage("popular"), 1, listedPages)},
		{"GET /featured", pages(listPage("featured"), 1, listedPages)}, {"POST /graphql", pages(nested, 1, listedPages)},
	} {
		times, sizes, err := ratio(ctx, o, small, large, list.pages, list.pages)
		if err != nil {
			return err
		}
		t.atMost(list.name, "%.2f", times, 1.2)
		t.row(list.name+", size of the responses", "%.2f", sizes)
	}
	t.print()
	return nil
}

func comparePageDepths(ctx context.Context, o options, c *sized) error {
	t := newTable("median latency with %d things, relative to the first pages", c.things)
	for _, list := range []string{"newest", "popular"} {
		times, _, err := ratio(ctx, o, c, c, pages(listPage(list), 1, 10), pages(listPage(list), 300, 10))
		if err != nil {
			return err
		}
		t.atMost("GET /"+list+", pages from 300 on by number", "%.2f", times, 2)
	}
	for _, sort := range []string{"NEWEST", "POPULAR"} {
		document := func(after string) request {
			return graphRequest(`query ($after: String) { things(first: 30, after: $after, sort: `+sort+`) { nodes { id name } pageInfo { endCursor } } }`, after)
		}
		middle, err := c.cursorAt(ctx, sort, c.things/2)
		if err != nil {
			return err
		}
		first, err := c.cursorAt(ctx, sort, 1)
		if err != nil {
			return err
		}
		times, _, err := ratio(ctx, o, c, c, []request{document(first)}, []request{document(middle)})
		if err != nil {
			return err
		}
		t.atMost("things by "+sort+", in the middle by cursor", "%.2f", times, 1.2)
	}
	t.print()
	return nil
}

// cursorAt returns the cursor of the entry at a position in a list.
func (c *sized) cursorAt(ctx context.Context, sort string, place int) (string, error) {
	r := graphRequest(fmt.Sprintf(`query ($after: String) { things(first: 1, sort: %s, after: $after) { pageInfo { endCursor } } }`, sort), graph.PageCursor(place))
	return endCursor(ctx, c.server, c.token, r)
}
