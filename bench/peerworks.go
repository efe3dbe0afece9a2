package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"

	"github.com/meshyard/meshyard/models"
)

// The documents of the table, for Meshyard's schema and for the schema that PostGraphile generates
// from the tables.
const (
	fileDocument     = `query($id: ID!) { file(id: $id) { id name size kind state contentType sha256 md5 rank createdAt } }`
	peerFileDocument = `query($id: BigInt!) { file: fileById(id: $id) { id name size kind state contentType sha256 md5 rank createdAt } }`

	pageDocument     = `query($after: String) { things(first: 30, after: $after) { nodes { id name createdAt creator { id username } files(first: 100) { id name size } } } }`
	peerPageDocument = `query($after: Cursor) { things: ` + peerThingsField + ` { nodes { id name createdAt creator: userByOwnerId { id username } ` +
		`files: filesByThingIdList(first: 100, orderBy: [RANK_ASC, ID_ASC], condition: {targetType: "thing", state: "finalized"}) { id name size } } } }`
	peerCursorsDocument = `query($after: Cursor) { things: ` + peerThingsField + ` { pageInfo { endCursor } } }`
	peerThingsField     = `allThings(first: 30, after: $after, orderBy: [PUBLISHED_AT_DESC, ID_DESC], condition: {state: "published"})`
)

const (
	filesOfConn     = 500 // number of different files that a connection requests
	downloadsOfConn = 8   // same for downloads, which are added to the count of each file later
	downloaders     = 64  // number of connections that download
)

// someModel returns the ID of a random file that is not an image, because the bare handler does not
// serve images.
func someModel(files int) int {
	return 1 + rand.IntN(files/filesOfThing)*filesOfThing + rand.IntN(filesOfThing-1)
}

// newWorks returns the rows of the table. token belongs to the user with the ID 1; files is the
// number of files.
func newWorks(ctx context.Context, o options, store *models.Store, db *sql.DB, all *contenders, token string, files int) ([]*work, error) {
	var read, shown, document, peerDocument, download []request
	for range o.conns * filesOfConn {
		id := strconv.Itoa(someModel(files))
		read = append(read, request{http.MethodGet, "/files/" + id, ""})
		shown = append(shown, request{http.MethodGet, "/shown/files/" + id, ""})
		document = append(document, postDocument(fileDocument, map[string]string{"id": id}))
		peerDocument = append(peerDocument, postDocument(peerFileDocument, map[string]string{"id": id}))
	}
	for range downloaders * downloadsOfConn {
		download = append(download, request{http.MethodGet, fmt.Sprintf("/files/%d/download", someModel(files)), ""})
	}
	cursors, err := findCursors(ctx, all.ours.process, cursorsDocument, token, o.conns*pagesOfConn)
	if err != nil {
		return nil, err
	}
	var newest, page []request
	for i, after := range cursors {
		newest = append(newest, newestRequest(i+1, after))
		page = append(page, graphRequest(pageDocument, after))
	}
	documents := map[string][]request{limit: document, ours: document}
	pages := map[string][]request{limit: page, ours: page}
	for _, peer := range all.peers {
		documents[peer.name] = peerDocument
		cursors, err := findCursors(ctx, peer.process, peerCursorsDocument, token, o.conns*pagesOfConn)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", peer.name, err)
		}
		for _, after := range cursors {
			pages[peer.name] = append(pages[peer.name], graphRequest(peerPageDocument, after))
		}
	}
	return []*work{
		{name: "REST file by id", conns: o.conns, status: http.StatusOK, wanted: 0.9, requests: map[string][]request{limit: read, ours: read}},
		{name: "REST file by id, limit with token, visibility and log", conns: o.conns, status: http.StatusOK, requests: map[string][]request{limit: shown, ours: read}},
		{name: "GraphQL file by id, 10 fields", conns: o.conns, status: http.StatusOK, wanted: 0.6, requests: documents},
		{name: "GraphQL 30 things with creator and files", conns: o.conns, status: http.StatusOK, wanted: 0.6, requests: pages},
		{name: "REST `/newest`", conns: o.conns, status: http.StatusOK, wanted: 0.45, requests: map[string][]request{limit: newest, ours: newest}},
		{
			name: "tracked download, 64 connections", conns: downloaders, status: http.StatusFound, wanted: 1.2, requests: map[string][]request{limit: download, ours: download},
			// Downloads are added to the counts later. Do that between the turns, so that no turn pays for
			// the downloads of another.
			between: func() error {
				_, err := store.FoldDownloads(ctx)
				for ranked := 1; err == nil && ranked > 0; {
					ranked, err = store.RankThings(ctx)
				}
				return err
			},
			recorded: func() (n int, err error) {
				err = db.QueryRowContext(ctx, "SELECT count(*) FROM downloads").Scan(&n)
				return n, err
			},
		},
	}, nil
}
