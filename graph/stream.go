package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/klauspost/compress/gzhttp"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// pingEvery keeps proxies from ending a stream on which nothing happens.
const pingEvery = 15 * time.Second

// eventStream is GraphQL over server-sent events, for who asks for text/event-stream: a stream for each operation, as the protocol GraphQL over SSE
// has it in its mode of distinct connections.
type eventStream struct{}

func (eventStream) Supports(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

func (eventStream) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	ctx := r.Context()
	refuse := func(errs gqlerror.List, op *graphql.OperationContext) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		writeResponse(w, exec.DispatchError(graphql.WithOperationContext(ctx, op), errs))
	}
	params, err := readPost(r)
	if err != nil {
		refuse(gqlerror.List{gqlerror.Wrap(err)}, &graphql.OperationContext{})
		return
	}
	params.Headers = r.Header
	params.ReadTime = graphql.TraceTiming{Start: graphql.Now(), End: graphql.Now()}
	op, errs := exec.CreateOperationContext(ctx, params)
	if errs != nil {
		refuse(errs, op)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	h.Set(gzhttp.HeaderNoCompression, "yes")
	w.WriteHeader(http.StatusOK)
	s := &stream{w: w, flush: http.NewResponseController(w).Flush}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.send(":")
	go s.ping(ctx)
	next, ctx := exec.DispatchOperation(ctx, op)
	for response := next(ctx); response != nil; response = next(ctx) {
		data, _ := json.Marshal(response) // its parts were written as JSON already
		s.send(fmt.Sprintf("event: next\ndata: %s", data))
	}
	s.send("event: complete\ndata:")
}

// stream is events on their way to a client. One that is gone reads none, and its context ends what makes them.
type stream struct {
	mu    sync.Mutex
	w     http.ResponseWriter
	flush func() error
	ended bool
}

func (s *stream) send(event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	_, err := fmt.Fprint(s.w, event, "\n\n")
	s.ended = err != nil || s.flush() != nil || strings.HasPrefix(event, "event: complete")
}

func (s *stream) ping(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pingEvery):
			s.send(":")
		}
	}
}
