package telemetry

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/telemetry/tracing/otlp"
	"github.com/meshyard/meshyard/internal/urls"
)

// Observe is called after each request with its route, which is empty if no route matched. streamed
// reports whether the client decides how long the request takes: an upload by form, server-sent
// events or a WebSocket.
type Observe func(route string, status int, bytes int64, took time.Duration, streamed bool)

// Requests wraps next, logs one line for each request, and reports it to observe. It never logs the
// query, the headers, the body or the secret in a path, because they may contain tokens. The level
// of the line is info, or debug for a probe that succeeded.
//
// The ID of a request is taken from the header X-Request-Id, which proxies set, or generated. It is
// in the response, and in all lines that are logged with the context of the request. Each request
// is a span of tracer, which may be nil.
func Requests(next http.Handler, logger *slog.Logger, observe Observe, tracer *otlp.Tracer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w}
		this := newRequest(r.Header)
		w.Header().Set("X-Request-Id", this.id)
		ctx, span := tracer.Request(r.Context(), r)
		if id := span.TraceID(); id != "" {
			this.traceID = id
		}
		r = r.WithContext(context.WithValue(ctx, requestKey{}, this))
		defer func() {
			this.describe(span, r.Method, rec.status)
			observe(this.route, rec.status, rec.bytes, time.Since(start), rec.streamed(r))
			level := slog.LevelInfo
			if rec.status == http.StatusOK && (this.route == "GET /healthz" || this.route == "GET /readyz") {
				level = slog.LevelDebug
			}
			if !logger.Enabled(r.Context(), level) {
				return
			}
			line := append(make([]slog.Attr, 0, 11), slog.String("client", clientip.Address(r)), slog.String("method", r.Method),
				slog.String("path", urls.Loggable(r.URL.Path)), slog.Int("status", rec.status), slog.Int64("bytes", rec.bytes),
				slog.Float64("ms", float64(time.Since(start).Microseconds())/1000))
			if this.operation != "" {
				line = append(line, slog.String("operation", this.operation))
			}
			if this.user != 0 {
				line = append(line, slog.Int64("user_id", this.user))
			}
			if this.token != 0 {
				line = append(line, slog.Int64("token_id", this.token))
			}
			// Logger.LogAttrs would look up the caller in the source, which takes 1% of the CPU
			// time of a short request. With the context of the request, the handler would copy the
			// record to add the IDs.
			record := slog.NewRecord(time.Now(), level, "request", 0)
			record.AddAttrs(this.appendIDs(line)...)
			_ = logger.Handler().Handle(context.Background(), record)
		}()
		next.ServeHTTP(rec, r)
	})
}

// recorder records the status and the size of the response.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// streamed reports whether the client decides how long its request takes.
func (r *recorder) streamed(request *http.Request) bool {
	return r.status == http.StatusSwitchingProtocols || strings.HasPrefix(r.Header().Get("Content-Type"),
		"text/event-stream") ||
		strings.HasPrefix(request.Header.Get("Content-Type"), "multipart/form-data")
}

// ReadFrom lets the kernel copy a file to the connection.
func (r *recorder) ReadFrom(from io.Reader) (int64, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := io.Copy(r.ResponseWriter, from)
	r.bytes += n
	return n, err
}

// Hijack passes the connection to WebSockets.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r.status = http.StatusSwitchingProtocols
	return http.NewResponseController(r.ResponseWriter).Hijack()
}

// Flush sends buffered data. Writers for event streams look for this method by name.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// Unwrap returns the underlying writer, for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
