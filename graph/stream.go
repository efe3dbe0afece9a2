package graph

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/klauspost/compress/gzhttp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/courtesy"
)

// pingEvery keeps proxies from ending a stream on which nothing happens.
const pingEvery = 15 * time.Second

// wantsEvents tells whether a request asks for server-sent events: a stream for each operation, as the protocol GraphQL over SSE has it in its mode of
// distinct connections.
func wantsEvents(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// stream runs an operation and sends what it answers, each time, as an event.
func (t *overHTTP) stream(ctx context.Context, w http.ResponseWriter, params *graphql.RawParams, op *graphql.OperationContext) {
	courtesy.Leave(ctx)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	h.Set(gzhttp.HeaderNoCompression, "yes")
	w.WriteHeader(http.StatusOK)
	s := &events{w: w, flush: http.NewResponseController(w).Flush}
	defer s.end()
	pinging, stop := context.WithCancel(ctx)
	defer stop()
	s.send(":")
	go s.ping(pinging)
	if op.Operation.Operation == ast.Subscription {
		next, ctx := t.dispatch(ctx, op)
		for response := next(ctx); response != nil; response = next(ctx) {
			s.next(encode(response))
		}
	} else if body, err := t.answer(ctx, params, op, false); err == nil && len(body) > 0 {
		s.next(body)
	}
	if ctx.Err() == nil { // else there may be more to tell, by another server or after this one began anew
		s.send("event: complete\ndata:")
	}
}

// events are on their way to a client. One that is gone reads none, and its context ends what makes them.
type events struct {
	mu    sync.Mutex
	w     http.ResponseWriter
	flush func() error
	ended bool
}

func (s *events) next(body []byte) {
	s.send(fmt.Sprintf("event: next\ndata: %s", bytes.TrimSpace(body)))
}

func (s *events) send(event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	_, err := fmt.Fprint(s.w, event, "\n\n")
	s.ended = err != nil || s.flush() != nil || strings.HasPrefix(event, "event: complete")
}

// end sees that nothing is sent any more: the request is at its end.
func (s *events) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

func (s *events) ping(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pingEvery):
			s.send(":")
		}
	}
}
