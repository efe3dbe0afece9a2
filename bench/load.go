package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// loadGenerator sends requests over keep-alive connections that stay open between turns. It shares
// the CPUs with the servers, so it does as little work as possible: it writes a prepared request,
// and reads only the status and the length of the response.
type loadGenerator struct {
	conns  []*clientConn
	next   func(conn int) []byte
	status int // expected status of every response
}

type clientConn struct {
	net.Conn
	n      int // index of the connection
	reader *bufio.Reader
	took   []time.Duration
	bytes  int64 // total size of the bodies
}

// turn is the result of one turn of requests.
type turn struct {
	rate     float64 // requests per second
	median   time.Duration
	requests int
	size     float64 // mean size of a body in bytes
}

// newLoadGenerator opens n connections. next returns the request that a connection sends next,
// or nil if it has sent all.
func newLoadGenerator(address string, n int, next func(conn int) []byte) (*loadGenerator, error) {
	a := &loadGenerator{next: next, status: http.StatusOK}
	for i := range n {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			a.close()
			return nil, err
		}
		a.conns = append(a.conns, &clientConn{Conn: conn, n: i, reader: bufio.NewReader(conn)})
	}
	return a, nil
}

func (a *loadGenerator) close() {
	for _, c := range a.conns {
		_ = c.Close()
	}
}

// run lets every connection send requests sequentially for a duration.
func (a *loadGenerator) run(ctx context.Context, long time.Duration) (turn, error) {
	began := time.Now()
	end := began.Add(long)
	status := []byte("HTTP/1.1 " + strconv.Itoa(a.status) + " ")
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range a.conns {
		c.took, c.bytes = c.took[:0], 0
		group.Go(func() error {
			for at := time.Now(); at.Before(end) && ctx.Err() == nil; {
				request := a.next(c.n)
				if request == nil {
					break
				}
				if err := c.one(request, status); err != nil {
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
	size := 0.0
	for _, c := range a.conns {
		all = append(all, c.took...)
		size += float64(c.bytes)
	}
	if len(all) == 0 {
		return turn{}, errors.New("no requests were sent")
	}
	slices.Sort(all)
	return turn{float64(len(all)) / took.Seconds(), all[len(all)/2], len(all), size / float64(len(all))}, nil
}

// one sends a request and reads the complete response. The status line must begin with want.
func (c *clientConn) one(request, want []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	what, _, _ := bytes.Cut(request, []byte(" HTTP/"))
	status, err := c.reader.ReadSlice('\n')
	if err != nil {
		return err
	}
	failed := ""
	if !bytes.HasPrefix(status, want) {
		failed = string(bytes.TrimSpace(status))
	}
	length, chunked := int64(-1), false
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		if value, ok := cutHeader(line, "Content-Length: "); ok {
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err != nil {
				return err
			}
		}
		if value, ok := cutHeader(line, "Transfer-Encoding: "); ok {
			chunked = bytes.HasPrefix(value, []byte("chunked"))
		}
	}
	if length < 0 && !chunked {
		return fmt.Errorf("%s: a response without a length", what)
	}
	if failed != "" {
		text, _ := io.ReadAll(io.LimitReader(c.reader, max(length, 0)))
		return fmt.Errorf("%s: %s: %s", what, failed, text)
	}
	if chunked {
		return c.discardChunks()
	}
	c.bytes += length
	_, err = c.reader.Discard(int(length))
	return err
}

// cutHeader returns the value of a header line if it has the given name, ignoring case.
func cutHeader(line []byte, name string) (value []byte, ok bool) {
	if len(line) < len(name) || !bytes.EqualFold(line[:len(name)], []byte(name)) {
		return nil, false
	}
	return line[len(name):], true
}

// discardChunks reads and discards a chunked body.
func (c *clientConn) discardChunks() error {
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 64)
		if err != nil {
			return err
		}
		c.bytes += size
		if _, err := c.reader.Discard(int(size) + len("\r\n")); err != nil || size == 0 {
			return err
		}
	}
}
