package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// fileInfoRatio is the target on PostgreSQL; on SQLite the ratio is for information.
const fileInfoRatio = 0.5

// asked is what requests to one process showed.
type asked struct {
	process *process
	asker   *asker

	rate, cpu, median, p99 series
}

// compareFileInfo asks in turns the server and a bare handler on the same database for files by id, and then shows
// what of the server's time the layers take.
func compareFileInfo(ctx context.Context, o options, e engine) (err error) {
	address, drop, err := newDatabase(ctx, o, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop()) }()
	a, token, err := openCatalogue(ctx, o, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := fill(ctx, e, address, o.files); err != nil {
		return err
	}
	if err := compareRequests(ctx, o, e, address, token); err != nil {
		return err
	}
	return showLayers(ctx, o, e, a.Store, token)
}

func compareRequests(ctx context.Context, o options, e engine, address, token string) (err error) {
	server, err := startServer(ctx, o, "--database-url", address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	bare, err := startBare(ctx, o, "files", string(e), strings.TrimPrefix(address, "sqlite:"), "http://"+server.address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()

	var sides [2]*asked
	for i, p := range []*process{server, bare} {
		asker, err := newAsker(p.address, token, o.conns, o.files)
		if err != nil {
			return err
		}
		defer asker.close()
		sides[i] = &asked{process: p, asker: asker}
	}
	if err := sameAnswers(sides[0].asker, sides[1].asker); err != nil {
		return err
	}
	for _, side := range sides {
		if _, err := side.asker.ask(ctx, time.Second); err != nil { // warm up
			return err
		}
	}
	for i := range o.pairs {
		for _, side := range inTurns(i, sides[0], sides[1]) {
			if err := side.measure(ctx, o.round); err != nil {
				return err
			}
		}
	}

	s, b := sides[0], sides[1]
	ratio := s.rate.over(b.rate)
	t := newTable("GET /files/{id} with a token on %s, %d keep-alive connections, %d files; %d times in turns of %s", e, o.conns, o.files, o.pairs, o.round)
	t.row("A  meshyard serve, requests/s", "%.0f", s.rate)
	t.row("B  net/http and one prepared select, requests/s", "%.0f", b.rate)
	if e == postgres {
		t.atLeast("A/B", "%.2f", ratio, fileInfoRatio)
	} else {
		t.row("A/B", "%.2f", ratio)
	}
	t.row("A  median answer, ms", "%.2f", s.median)
	t.row("B  median answer, ms", "%.2f", b.median)
	t.row("A  99 of 100 answers within, ms", "%.2f", s.p99)
	t.row("B  99 of 100 answers within, ms", "%.2f", b.p99)
	t.row("A  processor time of the process, µs/request", "%.0f", s.cpu)
	t.row("B  processor time of the process, µs/request", "%.0f", b.cpu)
	t.print()
	return nil
}

func (s *asked) measure(ctx context.Context, long time.Duration) error {
	before, err := s.process.usage()
	if err != nil {
		return err
	}
	got, err := s.asker.ask(ctx, long)
	if err != nil {
		return err
	}
	after, err := s.process.usage()
	if err != nil {
		return err
	}
	s.rate = append(s.rate, got.rate)
	s.cpu = append(s.cpu, float64((after.cpu-before.cpu).Microseconds())/float64(got.requests))
	s.median = append(s.median, got.median.Seconds()*1000)
	s.p99 = append(s.p99, got.p99.Seconds()*1000)
	return nil
}

// sameAnswers sees that both sides do the same work: their answers are equal to the byte. Files with downloads that
// are not folded are the exception, since the bare handler does not count these.
func sameAnswers(a, b *asker) error {
	for range 20 {
		id := 1 + rand.Int64N(a.ids)
		if id%unfoldedEvery == 0 {
			continue
		}
		var first, second bytes.Buffer
		if _, err := a.one(a.conns[0], id, &first); err != nil {
			return err
		}
		if _, err := b.one(b.conns[0], id, &second); err != nil {
			return err
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			return fmt.Errorf("file %d: the two sides answer differently:\nA %s\nB %s", id, &first, &second)
		}
	}
	return nil
}
