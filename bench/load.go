package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// asker asks for files over keep-alive connections that stay open between turns. It shares the processors with the
// servers it asks, so it does the least that a client can: it writes a request that is ready but for the id, and
// reads of the answer the status and the length.
type asker struct {
	conns  []*asking
	ids    int64
	suffix []byte
}

type asking struct {
	net.Conn
	reader  *bufio.Reader
	request []byte
	took    []time.Duration
}

// turn is what one turn of requests showed.
type turn struct {
	rate        float64 // requests a second
	median, p99 time.Duration
	requests    int
}

// newAsker opens n connections for requests of the ids from 1 to ids.
func newAsker(address, token string, n int, ids int) (*asker, error) {
	a := &asker{ids: int64(ids), suffix: []byte(" HTTP/1.1\r\nHost: " + address + "\r\nUser-Agent: bench\r\nAccept: application/json\r\n" +
		"Accept-Encoding: gzip\r\nAuthorization: Bearer " + token + "\r\n\r\n")}
	for range n {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			a.close()
			return nil, err
		}
		a.conns = append(a.conns, &asking{Conn: conn, reader: bufio.NewReader(conn)})
	}
	return a, nil
}

func (a *asker) close() {
	for _, c := range a.conns {
		_ = c.Close()
	}
}

// ask lets every connection ask, one request after the other, for so long.
func (a *asker) ask(ctx context.Context, long time.Duration) (turn, error) {
	began := time.Now()
	end := began.Add(long)
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range a.conns {
		c.took = c.took[:0]
		group.Go(func() error {
			for at := time.Now(); at.Before(end) && ctx.Err() == nil; {
				if _, err := a.one(c, 1+rand.Int64N(a.ids), io.Discard); err != nil {
					return err
				}
				now := time.Now()
				c.took = append(c.took, now.Sub(at))
				at = now
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return turn{}, err
	}
	took := time.Since(began)
	var all []time.Duration
	for _, c := range a.conns {
		all = append(all, c.took...)
	}
	slices.Sort(all)
	return turn{float64(len(all)) / took.Seconds(), all[len(all)/2], all[len(all)*99/100], len(all)}, nil
}

// one asks for a file and copies the answer's body.
func (a *asker) one(c *asking, id int64, body io.Writer) (int64, error) {
	c.request = strconv.AppendInt(append(c.request[:0], "GET /files/"...), id, 10)
	c.request = append(c.request, a.suffix...)
	if _, err := c.Write(c.request); err != nil {
		return 0, err
	}
	status, err := c.reader.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	failed := ""
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200 ")) {
		failed = string(bytes.TrimSpace(status))
	}
	length := int64(-1)
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, fmt.Errorf("GET /files/%d: an answer without its length", id)
	}
	if failed != "" {
		text, _ := io.ReadAll(io.LimitReader(c.reader, length))
		return 0, fmt.Errorf("GET /files/%d: %s: %s", id, failed, text)
	}
	return io.CopyN(body, c.reader, length)
}
