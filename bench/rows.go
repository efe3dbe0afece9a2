package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// row is a row of the table: requests of one kind.
type row struct {
	name     string
	status   int  // of the responses
	writes   bool // whether the requests change data
	requests []request
	others   map[string][]request // of all contenders but ours, if they differ
	// once returns n new requests for a server, if each can be sent only once. Then requests are only
	// recorded.
	once func(ctx context.Context, address string, n int) ([]request, error)

	statements series // of each request, according to the recordings
	sides      []*side
}

// requestsOf returns the requests for a contender, none if it is left out.
func (r *row) requestsOf(c contender) []request {
	if c.name == ours || r.others == nil {
		return r.requests
	}
	return r.others[c.name]
}

// Documents that are not those of the gallery.
const (
	// cardsDocument asks for everything that a card of a list shows, and for the first files.
	cardsDocument = `query($after: String) { things(first: 30, after: $after) { nodes { id name likeCount makeCount commentCount downloadCount isLiked ` +
		`creator { username avatarUrl(width: 64, height: 64) } defaultImage { thumbnail(width: 340, height: 255) { url width height } } ` +
		`files(first: 3) { id name size thumbnail(width: 128, height: 128) { url } } } pageInfo { hasNextPage endCursor } } }`
	// targetDocument asks for a file with what it is attached to.
	targetDocument  = `query($id: ID!) { file(id: $id) { id name size kind downloadCount publicUrl target { id creator { id username } ... on Thing { name state } } } }`
	cursorsDocument = `query($after: String) { things(first: 30, after: $after) { pageInfo { endCursor } } }`
)

const (
	recorded = 24 // requests of each row, by different callers and of different objects
	maxPages = 8  // of lists
)

// newRows returns the rows of the table: the documents of the gallery's pages, signed in and
// anonymous, two other documents, and the operations of the published REST interface.
func newRows(ctx context.Context, g *grown, address string) ([]*row, error) {
	of := func(make func(i int) request) []request {
		var all []request
		for i := range recorded {
			all = append(all, make(i).by(g.tokens[i%len(g.tokens)]))
		}
		return all
	}
	// Objects are chosen from all that were grown.
	thing := func(i int) string { return strconv.FormatInt(g.things[i*len(g.things)/recorded], 10) }
	file := func(i int) string { return strconv.FormatInt(g.files[i*len(g.files)/recorded], 10) }
	words := []string{"", "gear", "box", "toy holder", "print", "tool"}
	search := func(query string) object {
		sort := "RELEVANT"
		if query == "" {
			sort = "POPULAR"
		}
		return object{"query": query, "type": "THINGS", "sort": sort, "filter": nil, "facets": true}
	}
	var rows []*row
	for _, p := range []struct {
		name, document string
		variables      func(i int) object
	}{
		{"home", "home", func(int) object { return object{} }},
		{"explore with facets", "search", func(int) object { return search("") }},
		{"search with facets", "search", func(i int) object { return search(words[1+i%(len(words)-1)]) }},
		{"thing", "thing", func(i int) object { return object{"id": thing(i)} }},
		{"comments of a thing", "thing-comments", func(i int) object { return object{"id": thing(i)} }},
		{"profile", "profile", func(i int) object { return object{"username": g.names[i%growers]} }},
		{"designs of a profile", "profile-designs", func(i int) object { return object{"username": g.names[i%growers]} }},
		{"collection", "collection", func(i int) object { return object{"id": g.collections[i%len(g.collections)]} }},
	} {
		document := documents[p.document]
		signedIn := of(func(i int) request { return graphQL(document, p.variables(i)) })
		anonymous := slices.Clone(signedIn)
		for i := range anonymous {
			anonymous[i].token = ""
		}
		rows = append(rows, &row{name: "gallery: " + p.name, requests: signedIn},
			&row{name: "gallery: " + p.name + ", anonymous", requests: anonymous})
	}
	cursors, err := findCursors(ctx, address, g.admin, cursorsDocument, maxPages)
	if err != nil {
		return nil, err
	}
	list := func(path string) []request {
		return of(func(i int) request { return get(fmt.Sprintf("%s?per_page=30&page=%d", path, 1+i%maxPages)) })
	}
	_, content, err := someFile(0, 0)
	if err != nil {
		return nil, err
	}
	finalize := func(name string, number int, make func(p pending) request) *row {
		requestOf := func(p pending) request { return make(p).by(p.token) }
		var first []request
		for _, p := range g.pending[number*pendingUploads : (number+1)*pendingUploads] {
			first = append(first, requestOf(p))
		}
		return &row{name: name, writes: true, requests: first, once: func(ctx context.Context, address string,
			n int) ([]request, error) {
			made, err := g.uploads(ctx, address, n)
			all := []request{}
			for _, p := range made {
				all = append(all, requestOf(p))
			}
			return all, err
		}}
	}
	rows = append(rows,
		&row{name: "30 cards with counts and three files",
			requests: of(func(i int) request { return graphQL(cardsDocument, object{"after": cursors[i%maxPages]}) })},
		&row{name: "file with target and its creator",
			requests: of(func(i int) request { return graphQL(targetDocument, object{"id": file(i)}) })},
		&row{name: "REST file", requests: of(func(i int) request { return get("/files/" + file(i)) })},
		&row{name: "REST download", status: http.StatusFound, writes: true,
			requests: of(func(i int) request { return get("/files/" + file(i) + "/download") })},
		&row{name: "REST upload of 14 KB", writes: true,
			requests: of(func(int) request { return postForm("/files/0/uploadFile", nil, "file", "part.stl", content) })},
		&row{name: "REST featured", requests: list("/featured")},
		&row{name: "REST newest", requests: list("/newest")},
		&row{name: "REST popular", requests: list("/popular")},
		finalize("REST GET finalize", 0, func(p pending) request { return get(fmt.Sprintf("/files/%d/finalize", p.file)) }),
		finalize("REST POST finalize", 1, func(p pending) request {
			return request{method: http.MethodPost, path: fmt.Sprintf("/files/%d/finalize", p.file)}
		}),
		finalize("REST FinalizeFiles", 2, func(p pending) request {
			return post("/files/0/FinalizeFiles", object{"pending_uploads": []object{{"id": p.file}}, "target_id": p.thing,
				"target_type": "thing"})
		}),
	)
	for _, r := range rows {
		if r.status == 0 {
			r.status = http.StatusOK
		}
	}
	return rows, nil
}

// listedThings is the response to a document that asks for the end cursor of a list of things.
type listedThings struct {
	Data struct {
		Things struct{ PageInfo struct{ EndCursor string } }
	}
}

// findCursors returns the cursors after which the first n pages of a list start. The document
// returns the end cursor of a page. The first page has no cursor.
func findCursors(ctx context.Context, address, token, document string, n int) ([]any, error) {
	cursors := []any{nil}
	for len(cursors) < n {
		var found listedThings
		if err := graphQL(document, object{"after": cursors[len(cursors)-1]}).by(token).
			into(ctx, address, &found); err != nil {
			return nil, err
		}
		cursors = append(cursors, found.Data.Things.PageInfo.EndCursor)
	}
	return cursors, nil
}
