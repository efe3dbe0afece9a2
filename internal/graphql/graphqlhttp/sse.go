package graphqlhttp

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/klauspost/compress/gzhttp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/clientip"
)

// pingInterval keeps proxies from closing idle streams.
const pingInterval = 15 * time.Second

const eventStreamType = "text/event-stream"

// wantsEvents reports whether to send the results of an operation as server-sent events, as in the
// "distinct connections mode" of the GraphQL over SSE protocol. For a subscription it is sufficient
// that the client accepts events. The request may also be a GET, because EventSource in browsers
// sends one. For a query or mutation the client must prefer events to every JSON type (RFC 9110
// section 12.5.1), because clients list text/event-stream after the JSON types for operations of
// any kind.
func wantsEvents(r *http.Request, operation ast.Operation) bool {
	events, json := eventQuality(r)
	if operation == ast.Subscription {
		return events > 0 && r.Method != http.MethodHead
	}
	return events > json && r.Method == http.MethodPost
}

// wantsErrorEvents reports whether to send the errors of an operation that cannot be executed as
// server-sent events. Its kind may be unknown, so the client must prefer events to every JSON type.
func wantsErrorEvents(r *http.Request) bool {
	events, json := eventQuality(r)
	return events > json && r.Method != http.MethodHead
}

// eventQuality returns the quality of server-sent events in the Accept headers, and the highest
// quality of a JSON type.
func eventQuality(r *http.Request) (events, json float64) {
	for mediaType, q := range acceptedTypes(r.Header.Values("Accept")) {
		switch mediaType {
		case eventStreamType:
			events = max(events, q)
		case jsonType, graphQLResponseType, "*/*", "application/*":
			json = max(json, q)
		}
	}
	return events, json
}

// serveSubscription sends the events of a subscription until it ends, the client disconnects or the
// server shuts down.
func (h *handler) serveSubscription(ctx context.Context, w *responseWriter, r *http.Request,
	op *graphql.OperationContext) {
	if !wantsEvents(r, ast.Subscription) {
		h.writeError(ctx, w, http.StatusNotAcceptable, apierror.Invalid("",
			"subscriptions need server-sent events (Accept: text/event-stream) or a WebSocket"))
		return
	}
	release, err := h.subscriptions.acquire(clientip.Account(r))
	if err != nil {
		h.writeError(ctx, w, http.StatusTooManyRequests, err)
		return
	}
	defer release()
	ctx, end := h.untilShutdown(ctx)
	defer end()
	h.serveEvents(ctx, w.ResponseWriter, op)
}

// serveEvents runs an operation and sends each of its results as an event.
func (h *handler) serveEvents(ctx context.Context, w http.ResponseWriter, op *graphql.OperationContext) {
	s := openEvents(w)
	defer s.close()
	pinging, stop := context.WithCancel(ctx)
	defer stop()
	go s.ping(pinging)
	if op.Operation.Operation == ast.Subscription {
		next, ctx := h.dispatch(ctx, op)
		for response := next(ctx); response != nil; response = next(ctx) {
			s.next(encode(response))
		}
	} else if done := h.execute(ctx, op, false); !done.body.empty() {
		s.next(done.body)
	}
	if ctx.Err() == nil { // otherwise the client may reconnect and receive more
		s.complete()
	}
}

// openEvents starts a response of server-sent events.
func openEvents(w http.ResponseWriter) *eventStream {
	header := w.Header()
	header.Set("Content-Type", eventStreamType)
	header.Set("X-Accel-Buffering", "no")
	header.Set(gzhttp.HeaderNoCompression, "yes")
	w.WriteHeader(http.StatusOK)
	s := &eventStream{w: w, flush: http.NewResponseController(w).Flush}
	s.send(":")
	return s
}

// eventStream writes events to one client. After the client has disconnected, writes do nothing;
// the context of the request ends the producer of the events.
type eventStream struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	flush  func() error
	closed bool
}

// next sends a response. It ends with a line break.
func (s *eventStream) next(response encoded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	_, err := io.WriteString(s.w, "event: next\ndata: ")
	_, err2 := response.WriteTo(s.w)
	_, err3 := io.WriteString(s.w, "\n")
	s.closed = cmp.Or(err, err2, err3) != nil || s.flush() != nil
}

// complete sends the last event. Without the empty data, EventSource in browsers would ignore it.
func (s *eventStream) complete() {
	s.send("event: complete\ndata:")
	s.close()
}

func (s *eventStream) send(event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	_, err := io.WriteString(s.w, event+"\n\n")
	s.closed = err != nil || s.flush() != nil
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
