package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

const (
	sizedServers    = 3
	idleConnections = 1000
	restSize        = 60.0             // MB
	idleSize        = 60.0             // MB
	settles         = 35 * time.Second // a server frees memory ten seconds after its last request
)

// measureSize measures the resident memory of an idle server on SQLite, and how much memory a
// thousand connections add that sent one request each and stay open.
func measureSize(ctx context.Context, o options) error {
	token, err := o.newUser(ctx, "sqlite:"+filepath.Join(o.dir, "meshyard.db"), "bench")
	if err != nil {
		return err
	}
	var rest, idle series
	for range sizedServers {
		atRest, withConnections, err := sizes(ctx, o, token)
		if err != nil {
			return err
		}
		rest, idle = append(rest, atRest), append(idle, withConnections-atRest)
	}
	t := newTable("resident memory of a server on SQLite; %d servers, each measured %s after its start and after the last request", sizedServers, settles)
	t.atMost("at rest, MB", "%.1f", rest, restSize)
	t.atMost(fmt.Sprintf("added by %d idle connections, MB", idleConnections), "%.1f", idle, idleSize)
	t.print()
	return nil
}

// sizes starts a server and returns its resident memory in MB, without connections and with idle
// connections.
func sizes(ctx context.Context, o options, token string) (rest, idle float64, err error) {
	server, err := startServer(ctx, o)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	resident := func() (float64, error) {
		if err := sleep(ctx, settles); err != nil {
			return 0, err
		}
		used, err := server.usage()
		return float64(used.rss) / 1e6, err
	}
	if rest, err = resident(); err != nil {
		return 0, 0, err
	}
	text := get("/users/me").by(token).text(server.address)
	generator, err := newLoadGenerator(server.address, idleConnections, func(int) []byte { return text })
	if err != nil {
		return 0, 0, err
	}
	defer generator.close()
	for _, c := range generator.conns {
		if err := c.one(text, []byte("HTTP/1.1 200 ")); err != nil {
			return 0, 0, err
		}
	}
	idle, err = resident()
	return rest, idle, err
}
