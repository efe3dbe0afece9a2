package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/meshyard/meshyard/internal/graphqltest"
)

const (
	hostileTimes = 20                // requests per round
	maxHostile   = 20.0              // ms of CPU time per response
	maxResponse  = float64(64 << 10) // bytes per response
)

// measureHostile sends GraphQL requests that are designed to be expensive, without a token. It
// prints the CPU time of the server for each request, including the resulting garbage collection,
// and the size of the largest response.
func measureHostile(ctx context.Context, o options) (err error) {
	server, err := startServer(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, server.stop()) }()
	type cost struct {
		name  string
		ms    series
		bytes float64
	}
	requests := graphqltest.Requests()
	costs := make([]cost, len(requests))
	for range o.pairs {
		for i, r := range requests {
			costs[i].name = r.Name
			before, err := server.usage()
			if err != nil {
				return err
			}
			for range hostileTimes {
				n, err := sendHostile(ctx, server, r)
				if err != nil {
					return fmt.Errorf("%s: %w", r.Name, err)
				}
				costs[i].bytes = max(costs[i].bytes, float64(n))
			}
			after, err := server.usage()
			if err != nil {
				return err
			}
			costs[i].ms = append(costs[i].ms, (after.cpu-before.cpu).Seconds()*1000/hostileTimes)
		}
	}
	slices.SortFunc(costs, func(a, b cost) int { return cmp.Compare(b.ms.median(), a.ms.median()) })
	t := newTable("%d hostile GraphQL requests, each %d times in %d rounds: the ten that cost the server most, and the largest response", len(costs), hostileTimes, o.pairs)
	for _, c := range costs[:10] {
		t.atMost(c.name+", ms", "%.1f", c.ms, maxHostile)
	}
	largest := slices.MaxFunc(costs, func(a, b cost) int { return cmp.Compare(a.bytes, b.bytes) })
	t.below(largest.name+", bytes of the response", "%.0f", series{largest.bytes}, maxResponse)
	t.print()
	return err
}

var hostileNonce int

// sendHostile sends a request that the server has not seen before and returns the size of the
// response in bytes.
func sendHostile(ctx context.Context, server *process, r graphqltest.Request) (int64, error) {
	hostileNonce++
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+server.address+"/graphql", bytes.NewReader(r.Body(hostileNonce)))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept-Encoding", "identity")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return io.Copy(io.Discard, response.Body)
}
