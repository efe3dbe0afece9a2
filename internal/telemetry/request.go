package telemetry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strings"

	"github.com/meshyard/meshyard/internal/telemetry/tracing"
)

// request contains the properties of a request that are logged. Handlers set them while they
// process the request.
type request struct {
	id, traceID      string // never change
	route, operation string
	user, token      int64 // 0: none
}

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// SetRoute names the route that serves the request of ctx, such as "GET /things/{thing_id}". The
// last call wins. Outside of [Requests] it does nothing.
func SetRoute(ctx context.Context, route string) {
	if r := requestOf(ctx); r != nil {
		r.route = route
	}
}

// maxOperation is the maximum length of a logged operation name in bytes. Longer names are
// truncated, because clients choose the names of GraphQL operations.
const maxOperation = 100

// SetOperation names the operation that the request of ctx runs, such as "get_files_file_id".
// Outside of [Requests] it does nothing.
func SetOperation(ctx context.Context, operation string) {
	if r := requestOf(ctx); r != nil {
		r.operation = operation[:min(len(operation), maxOperation)]
	}
}

// SetCaller records the IDs of the user and of the token of the request of ctx, 0 for none. Outside
// of [Requests] it does nothing.
func SetCaller(ctx context.Context, user, token int64) {
	if r := requestOf(ctx); r != nil {
		r.user, r.token = user, token
	}
}

// newRequest returns a request with the IDs from the headers X-Request-Id and Traceparent. If
// X-Request-Id is missing or invalid, it generates an ID.
func newRequest(h http.Header) *request {
	r := &request{id: h.Get("X-Request-Id"), traceID: traceID(h.Get("Traceparent"))}
	if !isID(r.id) {
		var random [8]byte
		rand.Read(random[:]) // never fails
		r.id = hex.EncodeToString(random[:])
	}
	return r
}

// isID reports whether an ID that a client sent may be logged and returned. It must consist of 1 to
// 128 ASCII letters, digits and a few other characters.
func isID(id string) bool {
	const allowed = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.:/+=@"
	return id != "" && len(id) <= 128 && strings.Trim(id, allowed) == ""
}

// traceID returns the trace-id of a traceparent header (W3C Trace Context, section 3.2), or "".
func traceID(header string) string {
	parts := strings.Split(header, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || len(parts[1]) != 32 || len(parts[2]) != 16 {
		return ""
	}
	id := parts[1]
	if strings.Trim(id, "0123456789abcdef") != "" || strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}

// describe sets the name and the attributes of the span of the request, and ends it.
func (r *request) describe(span tracing.Span, method string, status int) {
	if r.route != "" {
		_, path, ok := strings.Cut(r.route, " ")
		if !ok {
			path = r.route
		}
		span.Name(method + " " + path)
		span.Text("http.route", path)
	}
	span.Text("http.request.method", method)
	span.Number("http.response.status_code", int64(status))
	span.Text("meshyard.request_id", r.id)
	span.Text("meshyard.operation", r.operation)
	if r.user != 0 {
		span.Number("user.id", r.user)
	}
	if status >= http.StatusInternalServerError {
		span.Fail()
	}
	span.End()
}

// appendIDs appends the attributes that every log line of the request contains.
func (r *request) appendIDs(line []slog.Attr) []slog.Attr {
	line = append(line, slog.String("request_id", r.id))
	if r.traceID != "" {
		line = append(line, slog.String("trace_id", r.traceID))
	}
	return line
}

// WithRequest returns a log handler that adds the IDs of the request to each line that is logged
// with the context of a request.
func WithRequest(h slog.Handler) slog.Handler { return withRequest{h} }

type withRequest struct{ slog.Handler }

func (w withRequest) Handle(ctx context.Context, record slog.Record) error {
	if r := requestOf(ctx); r != nil {
		record = record.Clone()
		record.AddAttrs(r.appendIDs(nil)...)
	}
	return w.Handler.Handle(ctx, record)
}

func (w withRequest) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withRequest{w.Handler.WithAttrs(attrs)}
}

func (w withRequest) WithGroup(name string) slog.Handler {
	return withRequest{w.Handler.WithGroup(name)}
}
