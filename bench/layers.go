package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/graphqlhttp"
	"github.com/meshyard/meshyard/internal/signing"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/rest"
)

// layer is one layer of the server, together with all layers below it down to the database.
type layer struct {
	name string
	run  func(ctx context.Context, id int64) error

	wall, cpu, allocs, bytes series
}

// showLayers reads files sequentially in this process, through an increasing number of layers of
// the server.
func showLayers(ctx context.Context, o options, e engine, store *models.Store, token string) error {
	caller, err := store.Authenticate(ctx, token)
	if err != nil {
		return err
	}
	layers, err := newLayers(store, caller)
	if err != nil {
		return err
	}
	// The difference between the first two layers is the cost of the GraphQL executor for a REST
	// request.
	if err := measureLayers(auth.WithCaller(ctx, caller, nil), o, layers, int64(o.files)); err != nil {
		return err
	}
	printLayers("The same read in this process on "+string(e), layers)
	return nil
}

// layerTurns is the number of turns. Many short turns distribute the effect of other work on the
// machine equally over all layers.
const layerTurns = 20

// measureLayers runs the layers in turns, with random IDs from 1 to ids.
func measureLayers(ctx context.Context, o options, layers []*layer, ids int64) error {
	for i := range layerTurns + 1 {
		for _, l := range layers {
			if err := l.measure(ctx, o.round*time.Duration(o.pairs)/layerTurns/4, ids); err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			if i == 0 {
				l.forget() // warm-up
			}
		}
	}
	return nil
}

func printLayers(title string, layers []*layer) {
	fmt.Printf("\n%s, sequential, %d turns each: medians\n", title, layerTurns)
	line := func(name string, figures ...any) {
		fmt.Printf("  %-66s %9v %9v %11v %9v\n", append([]any{name}, figures...)...)
	}
	line("", "µs", "CPU µs", "allocations", "KiB")
	for _, l := range layers {
		line(l.name, l.wall, l.cpu, l.allocs, l.bytes)
	}
	direct, executed := layers[0], layers[1]
	line("graph minus models: the cost of the executor", executed.wall.minus(direct.wall), executed.cpu.minus(direct.cpu),
		executed.allocs.minus(direct.allocs), executed.bytes.minus(direct.bytes))
}

func newLayers(store *models.Store, caller auth.Caller) ([]*layer, error) {
	stack, err := newStack(store)
	if err != nil {
		return nil, err
	}
	return []*layer{
		{name: "models: the store's File", run: func(ctx context.Context, id int64) error {
			_, err := store.File(ctx, caller, id)
			return err
		}},
		{name: "graph: the stored document, and its response as JSON", run: func(ctx context.Context, id int64) error {
			return stack.execute(ctx, "get_files_file_id", map[string]any{"file_id": strconv.FormatInt(id, 10)})
		}},
		{name: "rest: the whole handler, into a recorder", run: func(ctx context.Context, id int64) error {
			return serve(ctx, stack.rest, request{http.MethodGet, "/files/" + strconv.FormatInt(id, 10), ""})
		}},
	}, nil
}

// stack has the layers of the server above models.
type stack struct {
	graph    *graph.Graph
	executor *executor.Executor // for the stored documents
	rest     http.Handler       // of the REST layer
}

func newStack(store *models.Store) (*stack, error) {
	addresses := urls.Builder{Base: "http://127.0.0.1:8080", Key: make([]byte, 32)}
	g := graph.New(&graph.Resolver{Store: store, URLs: addresses})
	document, errs := gqlparser.LoadQueryWithRules(g.Schema(), rest.Documents(), rules.NewDefaultRules())
	if errs != nil {
		return nil, errs
	}
	handler, err := rest.Handler(rest.Options{
		Graph: g, URLs: addresses,
		MayUpload: func(context.Context, int64) error { return nil },
		StoreForm: func(context.Context, signing.Form, int64, io.Reader) error { return errors.New("not benchmarked") },
	})
	return &stack{g, g.Executor(graphqlhttp.SingleDocument{Document: document}), handler}, err
}

// execute runs a stored document and encodes its response as JSON.
func (s *stack) execute(ctx context.Context, operation string, variables map[string]any) error {
	ctx = graphql.StartOperationTrace(ctx)
	oc, errs := s.executor.CreateOperationContext(ctx, &graphql.RawParams{OperationName: operation, Variables: variables})
	if errs != nil {
		return errs
	}
	next, ctx := s.executor.DispatchOperation(ctx, oc)
	response := next(ctx)
	if len(response.Errors) > 0 {
		return response.Errors
	}
	_, err := json.Marshal(response)
	return err
}

// serve sends a request to a handler in process. It returns an error unless the status is 200.
func serve(ctx context.Context, h http.Handler, r request) error {
	asked, err := http.NewRequestWithContext(ctx, r.method, r.path, strings.NewReader(r.body))
	if err != nil {
		return err
	}
	asked.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, asked)
	if w.Code != http.StatusOK {
		return fmt.Errorf("%d: %s", w.Code, w.Body)
	}
	return nil
}

// measure runs the layer for a duration, with random IDs from 1 to ids.
func (l *layer) measure(ctx context.Context, long time.Duration, ids int64) error {
	runtime.GC() // collect the garbage of other layers first
	var memory [2]runtime.MemStats
	runtime.ReadMemStats(&memory[0])
	cpu, began, n := processorTime(), time.Now(), 0
	for ; time.Since(began) < long; n++ {
		if err := l.run(ctx, 1+rand.Int64N(ids)); err != nil {
			return err
		}
	}
	wall := time.Since(began)
	cpu = processorTime() - cpu
	runtime.ReadMemStats(&memory[1])
	each := func(total float64) float64 { return total / float64(n) }
	l.wall = append(l.wall, each(float64(wall.Nanoseconds())/1000))
	l.cpu = append(l.cpu, each(float64(cpu.Nanoseconds())/1000))
	l.allocs = append(l.allocs, each(float64(memory[1].Mallocs-memory[0].Mallocs)))
	l.bytes = append(l.bytes, each(float64(memory[1].TotalAlloc-memory[0].TotalAlloc)/1024))
	return nil
}

func (l *layer) forget() { l.wall, l.cpu, l.allocs, l.bytes = nil, nil, nil, nil }
