package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// This file compares three requests with the absolute limit of limit.go, and with PostGraphile,
// another GraphQL server, which generates its schema from the tables.

// limit is the name of the handler of limit.go.
const limit = "limit"

// peersFolder has a folder for each version of PostGraphile, with a script that starts it and the
// packages that it needs.
const peersFolder = "bench/peers"

// The documents, for Meshyard's schema and for that of PostGraphile.
const (
	fileDocument     = `query($id: ID!) { file(id: $id) { id name size kind state contentType sha256 md5 rank createdAt } }`
	peerFileDocument = `query($id: BigInt!) { file: fileById(id: $id) { id name size kind state contentType sha256 md5 rank createdAt } }`
	pageDocument     = `{ things(first: 30) { nodes { id name createdAt creator { id username } files(first: 100) { id name size } } } }`
	peerPageDocument = `{ things: allThings(first: 30, orderBy: [PUBLISHED_AT_DESC, ID_DESC], condition: {state: "published"}) { nodes { id name createdAt ` +
		`creator: userByOwnerId { id username } files: filesByThingIdList(first: 100, orderBy: [RANK_ASC, ID_ASC], ` +
		`condition: {targetType: "thing", state: "finalized"}) { id name size } } } }`
)

// compareLimits measures a server, the absolute limit and PostGraphile on the database of the
// server.
func compareLimits(ctx context.Context, o options, g *grown, server contender) (err error) {
	address := server.catalogue.address
	p, err := startBare(ctx, o, "limit", address)
	if err != nil {
		return err
	}
	all := []contender{server, {limit, p, nil}}
	defer func() {
		for _, c := range all[1:] {
			err = errors.Join(err, c.process.stop())
		}
	}()
	// PostGraphile finds relations by foreign keys. files has none to things, because pending uploads
	// have no thing.
	if err := execute(ctx, address,
		"COMMENT ON TABLE files IS '@foreignKey (thing_id) references things (id)'"); err != nil {
		return err
	}
	for _, version := range []string{"4", "5"} {
		if !o.withPeers {
			break
		}
		folder := filepath.Join(peersFolder, "postgraphile"+version)
		if err := install(ctx, folder); err != nil {
			fmt.Printf("\nPostGraphile %s is left out: %s\n", version, err)
			continue
		}
		listen, err := freeAddress()
		if err != nil {
			return err
		}
		peer, err := start(ctx, filepath.Join(o.dir, "postgraphile"+version+".log"), listen, "env", "NODE_ENV=production",
			"GRAPHILE_ENV=production",
			"node", filepath.Join(folder, "main.mjs"), listen, address, strconv.Itoa(databaseConns()))
		if err != nil {
			return err
		}
		all = append(all, contender{"PostGraphile " + version, peer, nil})
	}
	var files, peerFiles, downloads []request
	for i, id := range g.files {
		token, variables := g.tokens[i%len(g.tokens)], object{"id": strconv.FormatInt(id, 10)}
		files = append(files, graphQL(fileDocument, variables).by(token))
		peerFiles = append(peerFiles, graphQL(peerFileDocument, variables))
		downloads = append(downloads, get(fmt.Sprintf("/files/%d/download", id)).by(token))
	}
	pages := []request{graphQL(pageDocument, nil).by(g.admin)}
	ofPeers := func(limited, peers []request) map[string][]request {
		requests := map[string][]request{limit: limited}
		for _, c := range all[2:] {
			requests[c.name] = peers
		}
		return requests
	}
	rows := []*row{
		{name: "GraphQL file by id, 10 fields", status: http.StatusOK, requests: files, others: ofPeers(files, peerFiles)},
		{name: "GraphQL 30 things with creator and files", status: http.StatusOK, requests: pages,
			others: ofPeers(pages, []request{graphQL(peerPageDocument, nil)})},
		{name: "REST download", status: http.StatusFound, requests: downloads,
			others: map[string][]request{limit: downloads}},
	}
	rows = o.chosen(rows)
	for _, r := range rows {
		if r.status == http.StatusOK {
			if err := r.sameData(ctx, all); err != nil {
				return err
			}
		}
	}
	return measureRows(ctx, o, "postgres, limits", rows, all)
}

// install installs the packages of a peer unless they are already installed.
func install(ctx context.Context, folder string) error {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not installed", program)
		}
	}
	want, err := os.Stat(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return err
	}
	if got, err := os.Stat(filepath.Join(folder, "node_modules", ".package-lock.json")); err == nil && got.ModTime().
		After(want.ModTime()) {
		return nil
	}
	fmt.Printf("\ninstalling the packages in %s, which takes some minutes\n", folder)
	out, err := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder).
		CombinedOutput()
	if err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
}

// sameData checks that all contenders respond to the first request with the same data.
func (r *row) sameData(ctx context.Context, all []contender) error {
	var want string
	for i, c := range all {
		got, err := r.requestsOf(c)[0].send(ctx, c.process.address)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		data := withoutForm.Replace(strings.ToLower(string(got.Body)))
		if i == 0 {
			want = data
		} else if data != want {
			return fmt.Errorf("%s: the data of %s differs:\n%s", r.name, c.name, difference(data, want))
		}
	}
	return nil
}

// withoutForm removes what differs only in form: numbers may be texts, and UTC has two names. The
// case of enum values differs, too.
var withoutForm = strings.NewReplacer(`"`, "", " ", "", "\n", "", "+00:00", "z")
