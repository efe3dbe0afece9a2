package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/graphqlhttp"
)

// BenchmarkStack measures complete handlers without the network: time, allocations and bytes of one
// request. It needs MESHYARD_TEST_POSTGRES for PostgreSQL; without it, only SQLite is measured.
func BenchmarkStack(b *testing.B) {
	for _, e := range []engine{postgres, sqlite} {
		if e == postgres && os.Getenv("MESHYARD_TEST_POSTGRES") == "" {
			continue
		}
		b.Run(string(e), func(b *testing.B) { benchmarkStack(b, e) })
	}
}

func benchmarkStack(b *testing.B, e engine) {
	o := options{dir: b.TempDir(), conns: 1, files: 10_000}
	address, a, token, closeAll, err := newDatabaseWithCatalogue(b.Context(), o, e)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := closeAll(); err != nil {
			b.Error(err)
		}
	})
	if err := fillListing(b.Context(), e, address, listedThings); err != nil {
		b.Fatal(err)
	}
	// No background jobs run here. Without this call, reading the owner would add up the pending count
	// changes of all files.
	if _, err := a.Store.FoldCounts(b.Context()); err != nil {
		b.Fatal(err)
	}
	caller, err := a.Store.Authenticate(b.Context(), token)
	if err != nil {
		b.Fatal(err)
	}
	ctx := auth.WithCaller(context.Background(), caller, nil)
	rest, overHTTP, generated := handlers(b, a)
	file := func() string { return strconv.Itoa(1 + rand.IntN(listedThings*filesOfThing)) }
	type work struct {
		name    string
		handler http.Handler
		next    func() request
	}
	all := []work{
		{"nested", overHTTP, func() request { return graphRequest(nodesDocument, "") }},
		{"lists", overHTTP, func() request { return graphRequest(listsDocument, "") }},
		{"graphql-file", overHTTP, func() request {
			return postDocument(fileDocument, map[string]string{"id": file()})
		}},
		{"rest-file", rest, func() request { return request{http.MethodGet, "/files/" + file(), ""} }},
		{"rest-newest", rest, func() request { return newestRequest(1, "") }},
	}
	if generated != nil {
		all = append(all, work{"nested-gqlgen", generated, func() request { return graphRequest(nodesDocument, "") }})
	}
	for _, work := range all {
		b.Run(work.name, func(b *testing.B) {
			b.ReportAllocs()
			cpu := processorTime()
			for b.Loop() {
				if err := serve(ctx, work.handler, work.next()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processorTime()-cpu).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// depthFirst returns a graph with the executor that gqlgen generates. It is nil without the build
// tag depthfirst.
var depthFirst func(*graph.Graph) *graph.Graph

// handlers returns the handlers of the REST API, of GraphQL over HTTP, and of GraphQL over HTTP
// with the executor that gqlgen generates, which is nil if it is not compiled.
func handlers(b *testing.B, a *server.Server) (rest, overHTTP, generated http.Handler) {
	stack, err := newStack(a.Store)
	if err != nil {
		b.Fatal(err)
	}
	if overHTTP, err = stack.graph.Handler(graphqlhttp.Options{}); err != nil {
		b.Fatal(err)
	}
	if depthFirst != nil {
		if generated, err = depthFirst(stack.graph).Handler(graphqlhttp.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	return stack.rest, overHTTP, generated
}
