package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
)

// listing is a list that is requested page by page.
type listing struct {
	name   string
	target map[engine]float64 // minimum of A/B
	page   func(n int, after string) request
}

// The documents of the GraphQL listings, and the document that returns the cursors of the pages.
const (
	nodesDocument   = `query($after: String) { things(first: 30, after: $after) { nodes { id name createdAt creator { id username } tags { name } files(first: 100) { id name size } } } }`
	listsDocument   = `query($after: String) { things(first: 30, after: $after) { nodes { id name comments(first: 3) { nodes { id body } } makes(first: 3) { nodes { id name } } } } }`
	cursorsDocument = `query($after: String) { things(first: 30, after: $after) { pageInfo { endCursor } } }`
)

var listings = []listing{
	{"GET /newest?per_page=30", map[engine]float64{postgres: 0.4, sqlite: 0.3}, newestRequest},
	{"POST /graphql things(first: 30) with creator, tags and files", map[engine]float64{postgres: 0.5, sqlite: 0.4}, pagesOf(nodesDocument)},
	{"POST /graphql things(first: 30) with three comments and three makes each", map[engine]float64{postgres: 0.5, sqlite: 0.4}, pagesOf(listsDocument)},
}

// pagesOf returns the requests for the pages that a document lists.
func pagesOf(document string) func(n int, after string) request {
	return func(_ int, after string) request { return graphRequest(document, after) }
}

// newestRequest returns the request that the Link header of the previous page contains.
func newestRequest(n int, after string) request {
	query := url.Values{"per_page": {strconv.Itoa(listedPage)}}
	if after != "" {
		query.Set("page", strconv.Itoa(n))
		query.Set("after", strconv.Itoa(n)+":"+after)
	}
	return request{http.MethodGet, "/newest?" + query.Encode(), ""}
}

func graphRequest(document, after string) request {
	variables := map[string]string{}
	if after != "" {
		variables["after"] = after
	}
	return postDocument(document, variables)
}

func postDocument(document string, variables map[string]string) request {
	// Marshaling strings cannot fail.
	body, _ := json.Marshal(map[string]any{"query": document, "variables": variables})
	return request{http.MethodPost, "/graphql", string(body)}
}

// pagesOfConn is the number of different pages that a connection requests.
const pagesOfConn = 4

// compareListings compares listing the newest things, by REST and by GraphQL, on the server and on
// a bare handler with the same database. It then shows how much time each layer of the server
// takes.
func compareListings(ctx context.Context, o options, e engine) (err error) {
	address, a, token, closeAll, err := newDatabaseWithCatalogue(ctx, o, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	if err := fillListing(ctx, e, address, listedThings); err != nil {
		return err
	}
	if err := comparePages(ctx, o, e, address, token); err != nil {
		return err
	}
	return showListingLayers(ctx, o, e, a, token)
}

// comparePages runs two comparisons of each listing. The server coalesces identical concurrent
// requests of one token, which the bare handler does not. If all connections request the same page,
// the ratio includes that effect; if each connection requests different pages, the ratio is the
// cost of one listing.
func comparePages(ctx context.Context, o options, e engine, address, token string) (err error) {
	server, bare, stop, err := startPair(ctx, o, e, address, "listing")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	cursors, err := findCursors(ctx, server, cursorsDocument, token, o.conns*pagesOfConn)
	if err != nil {
		return err
	}

	for _, l := range listings {
		var pages []request
		for i, after := range cursors {
			pages = append(pages, l.page(i+1, after))
		}
		for _, mode := range []struct {
			name  string
			pages []request
			pick  func(conn int) int
		}{
			{"distinct: each connection asks for pages of its own, so A shares no runs", pages, func(conn int) int {
				return conn*pagesOfConn + rand.IntN(pagesOfConn)
			}},
			{"shared: all connections ask for the same page, so A shares runs, and B does not", pages[:1], func(int) int { return 0 }},
		} {
			err := comparison{
				title:  fmt.Sprintf("%s on %s, %d things\n%s", l.name, e, listedThings, mode.name),
				server: server, bare: bare, token: token, target: l.target[e],
				requests: mode.pages, pick: mode.pick, compared: mode.pages,
			}.run(ctx, o)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// findCursors returns the cursors after which the first n pages start. The document returns the end
// cursor of a page. The first page has an empty cursor.
func findCursors(ctx context.Context, server *process, document, token string, n int) ([]string, error) {
	cursors := []string{""}
	for len(cursors) < n {
		next, err := endCursor(ctx, server, token, graphRequest(document, cursors[len(cursors)-1]))
		if err != nil {
			return nil, err
		}
		cursors = append(cursors, next)
	}
	if n*listedPage > listedThings {
		return nil, fmt.Errorf("there are fewer than %d pages", n)
	}
	return cursors, nil
}

// endCursor returns the end cursor of the page of things that a request lists.
func endCursor(ctx context.Context, server *process, token string, r request) (string, error) {
	_, body, err := r.send(ctx, server.address, token)
	if err != nil {
		return "", err
	}
	var found struct {
		Data struct {
			Things struct{ PageInfo struct{ EndCursor string } }
		}
	}
	err = json.Unmarshal(body, &found)
	return found.Data.Things.PageInfo.EndCursor, err
}
