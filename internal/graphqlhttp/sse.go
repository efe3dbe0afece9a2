package graphqlhttp

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
)

// pingInterval keeps proxies from closing idle streams.
const pingInterval = 15 * time.Second

// acceptsEvents reports whether the client asks for server-sent events, as in the "distinct
// connections mode" of the GraphQL over SSE protocol.
func acceptsEvents(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// serveEvents runs an operation and sends each of its results as an event.
func (h *handler) serveEvents(ctx context.Context, w http.ResponseWriter, params *graphql.RawParams, op *graphql.OperationContext) {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no")
	header.Set(gzhttp.HeaderNoCompression, "yes")
	w.WriteHeader(http.StatusOK)
	s := &eventStream{w: w, flush: http.NewResponseController(w).Flush}
	defer s.close()
	pinging, stop := context.WithCancel(ctx)
	defer stop()
	s.send(":")
	go s.ping(pinging)
	if op.Operation.Operation == ast.Subscription {
		next, ctx := h.dispatch(ctx, op)
		for response := next(ctx); response != nil; response = next(ctx) {
			s.next(encode(response))
		}
	} else if body, err := h.execute(ctx, params, op, false); err == nil && len(body) > 0 {
		s.next(body)
	}
	if ctx.Err() == nil { // otherwise the client may reconnect and receive more
		s.send("event: complete\ndata:")
	}
}

// eventStream writes events to one client. Writes to a client that is gone do nothing; the request
// context ends their producer.
type eventStream struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	flush  func() error
	closed bool
}

func (s *eventStream) next(body []byte) {
	s.send(fmt.Sprintf("event: next\ndata: %s", bytes.TrimSpace(body)))
}

func (s *eventStream) send(event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	_, err := fmt.Fprint(s.w, event, "\n\n")
	s.closed = err != nil || s.flush() != nil || strings.HasPrefix(event, "event: complete")
}

// close stops further writes. The ResponseWriter must not be used after the handler returns.
func (s *eventStream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

func (s *eventStream) ping(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pingInterval):
			s.send(":")
		}
	}
}
