package main

import (
	"context"
	"fmt"
	"time"
)

// comparison compares the real server with a bare handler for one kind of request, in alternating
// turns.
type comparison struct {
	title        string
	server, bare *process
	token        string
	target       float64 // minimum of the ratio; 0: for information only
	requests     []request
	pick         func(conn int) int // returns the index of the request that a connection sends next
	compared     []request          // requests whose responses must be equal
}

// side is a measured process with its results.
type side struct {
	process   *process
	generator *loadGenerator

	rate, cpu, median, p99 series
	size                   series // bytes of a response
	requests               int
}

func (c comparison) run(ctx context.Context, o options) error {
	if err := sameResponses(ctx, c.server, c.bare, c.token, c.compared); err != nil {
		return err
	}
	var sides [2]*side
	for i, p := range []*process{c.server, c.bare} {
		texts := make([][]byte, len(c.requests))
		for n, r := range c.requests {
			texts[n] = r.text(p.address, c.token)
		}
		generator, err := newLoadGenerator(p.address, o.conns, func(conn int) []byte { return texts[c.pick(conn)] })
		if err != nil {
			return err
		}
		defer generator.close()
		sides[i] = &side{process: p, generator: generator}
		if _, err := generator.run(ctx, min(time.Second, 2*o.round)); err != nil { // warm-up
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
	c.print(o, sides[0], sides[1])
	return nil
}

func (c comparison) print(o options, a, b *side) {
	t := newTable("%s\n%d keep-alive connections; %d times in turns of %s", c.title, o.conns, o.pairs, o.round)
	fmt.Printf("  identical responses of A and B: %d\n", len(c.compared))
	t.row("A  meshyard serve, requests/s", "%.0f", a.rate)
	t.row("B  net/http and one prepared select, requests/s", "%.0f", b.rate)
	ratio := a.rate.over(b.rate)
	if c.target != 0 {
		t.atLeast("A/B", "%.2f", ratio, c.target)
	} else {
		t.row("A/B", "%.2f", ratio)
	}
	t.row("A  median latency, ms", "%.2f", a.median)
	t.row("B  median latency, ms", "%.2f", b.median)
	t.row("A  99th percentile latency, ms", "%.2f", a.p99)
	t.row("B  99th percentile latency, ms", "%.2f", b.p99)
	t.row("A  processor time of the process, µs/request", "%.0f", a.cpu)
	t.row("B  processor time of the process, µs/request", "%.0f", b.cpu)
	t.print()
}

// measure sends requests for a duration and records the results.
func (c *side) measure(ctx context.Context, long time.Duration) error {
	before, err := c.process.usage()
	if err != nil {
		return err
	}
	got, err := c.generator.run(ctx, long)
	if err != nil {
		return err
	}
	after, err := c.process.usage()
	if err != nil {
		return err
	}
	c.rate = append(c.rate, got.rate)
	c.cpu = append(c.cpu, float64((after.cpu-before.cpu).Microseconds())/float64(got.requests))
	c.median = append(c.median, got.median.Seconds()*1000)
	c.size = append(c.size, got.size)
	c.requests += got.requests
	c.p99 = append(c.p99, got.p99.Seconds()*1000)
	return nil
}
