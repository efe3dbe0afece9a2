package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
)

// fileInfoRatio is the target on PostgreSQL. On SQLite the ratio is for information only.
const fileInfoRatio = 0.5

// compareFileInfo compares reading files by ID on the server and on a bare handler with the same
// database. It then shows how much time each layer of the server takes.
func compareFileInfo(ctx context.Context, o options, e engine) (err error) {
	address, a, token, closeAll, err := newDatabaseWithCatalogue(ctx, o, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	if err := fill(ctx, e, address, o.files); err != nil {
		return err
	}
	if err := compareRequests(ctx, o, e, address, token); err != nil {
		return err
	}
	return showLayers(ctx, o, e, a.Store, token)
}

func compareRequests(ctx context.Context, o options, e engine, address, token string) (err error) {
	server, bare, stop, err := startPair(ctx, o, e, address, "files")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	c := comparison{
		title:  fmt.Sprintf("GET /files/{id} with a token on %s, %d files", e, o.files),
		server: server, bare: bare, token: token,
		pick: func(int) int { return rand.IntN(o.files) },
	}
	if e == postgres {
		c.target = fileInfoRatio
	}
	for id := 1; id <= o.files; id++ {
		c.requests = append(c.requests, request{http.MethodGet, "/files/" + strconv.Itoa(id), ""})
	}
	for len(c.compared) < 20 {
		// Files with pending downloads are not compared: the bare handler does not add them to the count.
		if id := 1 + rand.IntN(o.files); id%newEvery != 0 {
			c.compared = append(c.compared, c.requests[id-1])
		}
	}
	return c.run(ctx, o)
}
