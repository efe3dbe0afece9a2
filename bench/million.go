package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/graph"
)

// This file compares a large catalogue with a small one, which should be about equally fast. Both
// are imported from the same tables, with the same distribution.

const (
	small       = "small" // the name of the contender
	smallThings = 10_000
	listedPages = 40 // of each list; of ten, those of one catalogue happened to be 1.1 times as large
	deepPage    = 300
)

// bufferedPages lets PostgreSQL hold the rows of all pages that are compared. With the 64 MB of
// servers for tests, it read most of them from the operating system.
const bufferedPages = "shared_buffers=1GB"

// compareSizes imports both catalogues and measures lists and searches.
func compareSizes(ctx context.Context, o options, e engine, things int) (err error) {
	var all []contender
	var of [2][]*row
	for i, n := range []int{things, smallThings} {
		p, token, stop, err := startSized(ctx, o, e, n)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		all = append(all, contender{[]string{ours, small}[i], p, nil})
		if of[i], err = sizedRows(ctx, p.address, token, n); err != nil {
			return err
		}
	}
	for i, r := range of[0] {
		r.others = map[string][]request{small: of[1][i].requests}
	}
	return measureRows(ctx, o, fmt.Sprintf("%d things relative to %d, %s", things, smallThings, e), o.chosen(of[0]), all)
}

// startSized imports things, features every eighth, and starts a server.
func startSized(ctx context.Context, o options, e engine,
	n int) (p *process, token string, stop func() error, err error) {
	o.dir = filepath.Join(o.dir, strconv.Itoa(n))
	if err := os.Mkdir(o.dir, 0o750); err != nil {
		return nil, "", nil, err
	}
	address, drop, err := newDatabase(ctx, o, e, bufferedPages)
	if err != nil {
		return nil, "", nil, err
	}
	began := time.Now()
	if err := o.importCatalogue(ctx, address, n); err != nil {
		return nil, "", nil, err
	}
	fmt.Printf("\n%s: %d things imported, %.0f a second\n", e, n, float64(n)/time.Since(began).Seconds())
	if token, err = o.newUser(ctx, address, "reader"); err != nil {
		return nil, "", nil, err
	}
	if err := execute(ctx, address, "UPDATE things SET featured_at = published_at WHERE id % 8 = 0"); err != nil {
		return nil, "", nil, err
	}
	// Autovacuum would do the rest: at the last ANALYZE, no thing was featured, and the update has
	// removed pages from the visibility map.
	if _, err := o.meshyard(ctx, address, "recount"); err != nil {
		return nil, "", nil, err
	}
	if err := execute(ctx, address, "VACUUM", "ANALYZE"); err != nil {
		return nil, "", nil, err
	}
	if p, err = startServer(ctx, o, "--database-url", address, "--base-url", baseURL); err != nil {
		return nil, "", nil, err
	}
	return p, token, func() error { return errors.Join(p.stop(), drop()) }, nil
}

// sizedRows returns rows whose requests depend on the size of a catalogue only where a list has its
// middle.
func sizedRows(ctx context.Context, address, token string, things int) ([]*row, error) {
	pages := func(n int, page func(number int) request) (all []request) {
		for i := range n {
			all = append(all, page(i+1).by(token))
		}
		return all
	}
	list := func(path string, from int) []request {
		return pages(listedPages, func(n int) request { return get(fmt.Sprintf("/%s?per_page=30&page=%d", path, from+n)) })
	}
	search := func(words string) []request {
		all := strings.Split(words, ",")
		return pages(len(all), func(n int) request {
			return graphQL(documents["search"], object{"query": all[n-1], "type": "THINGS", "sort": "RELEVANT", "filter": nil,
				"facets": false})
		})
	}
	rows := []*row{
		{name: "gallery: home", requests: pages(1, func(int) request { return graphQL(documents["home"], object{}) })},
		{name: "REST newest", requests: list("newest", 0)},
		{name: "REST popular", requests: list("popular", 0)},
		{name: "REST featured", requests: list("featured", 0)},
		{name: "REST newest, from page 300 on", requests: list("newest", deepPage-listedPages)},
		{name: "30 cards", requests: pages(listedPages,
			func(n int) request { return graphQL(cardsDocument, object{"after": graph.PageCursor(n)}) })},
		{name: "search for a common word", requests: search("gear,box,holder,print,case,mount")},
		{name: "search for two words", requests: search("gear box,phone holder,camera mount")},
		{name: "search for a misspelled word", requests: search("haeddphone,octpous,braclet")},
	}
	for _, sort := range []string{"NEWEST", "POPULAR"} {
		document := `query($after: String) { things(first: 1, after: $after, sort: ` + sort + `) { pageInfo { endCursor } } }`
		var found listedThings
		if err := graphQL(document, object{"after": graph.PageCursor(things / 2)}).by(token).
			into(ctx, address, &found); err != nil {
			return nil, err
		}
		middle := `query($after: String) { things(first: 30, after: $after, sort: ` + sort + `) { nodes { id name } } }`
		rows = append(rows, &row{name: "30 things by " + sort + ", from the middle by cursor",
			requests: pages(1, func(int) request {
				return graphQL(middle, object{"after": found.Data.Things.PageInfo.EndCursor})
			})})
	}
	for _, r := range rows {
		r.status = http.StatusOK
	}
	return rows, nil
}
