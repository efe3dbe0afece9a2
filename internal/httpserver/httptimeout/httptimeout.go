// Package httptimeout ends HTTP requests and responses of clients that stall, while it lets slow
// but steady transfers take as long as they need. The timeouts of http.Server limit the whole
// duration of a request instead, which would end large uploads.
package httptimeout

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// IdleTimeout is how long a client may send nothing in the middle of a body, or receive nothing of
	// a response.
	IdleTimeout = time.Minute
	// slowest is the minimum average rate of a body in bytes per second after the first idle timeout
	// period.
	slowest = 1 << 10
	// step is how many bytes of a response a client must receive within the idle timeout.
	step = 256 << 10
)

// Handler wraps next with a deadline for each read of the request body and each write of the
// response, idleTimeout after it starts. So an upload or a download can take any time as long as it
// makes progress. A response that starts before the body has been read does not wait for the body.
func Handler(next http.Handler, idleTimeout time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := http.NewResponseController(w)
		a := &responseWriter{ResponseWriter: w, connection: connection, idleTimeout: idleTimeout}
		if r.Body != nil && r.Body != http.NoBody {
			a.body = &body{
				ReadCloser: r.Body, connection: connection, began: time.Now(), idleTimeout: idleTimeout,
				declared: r.ContentLength, invited: r.Header.Get("Expect") == "", closing: r.Close,
			}
			// A copy, because the server inspects the body of its own request.
			with := *r
			with.Body = a.body
			r = &with
		}
		// A connection without deadlines is left alone. Connections of net/http servers always have
		// them.
		next.ServeHTTP(a, r)
		a.begin(http.StatusOK)
		a.extend() // for what the server still writes; a deadline does not carry over to the next request
	})
}

// body is a request body that returns an error if data arrives too slowly.
type body struct {
	io.ReadCloser
	connection  *http.ResponseController
	began       time.Time
	idleTimeout time.Duration
	declared    int64 // bytes; negative if unknown
	invited     bool  // the client did not wait for 100 Continue
	closing     bool  // the client asked to close the connection, or uses HTTP/1.0

	read  atomic.Int64
	ended atomic.Bool
}

func (b *body) Read(p []byte) (int, error) {
	deadline := time.Now().Add(b.idleTimeout)
	if least := b.began.Add(b.idleTimeout + time.Duration(b.read.Load()/slowest)*time.Second); least.Before(deadline) {
		deadline = least
	}
	_ = b.connection.SetReadDeadline(deadline)
	n, err := b.ReadCloser.Read(p)
	b.read.Add(int64(n))
	if errors.Is(err, io.EOF) {
		b.ended.Store(true)
	}
	if err != nil {
		// After the body the server reads ahead to detect a disconnect. A silent client is normal
		// then.
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

// responseWriter returns an error if the client receives too slowly.
type responseWriter struct {
	http.ResponseWriter
	connection  *http.ResponseController
	idleTimeout time.Duration
	body        *body // nil if there is none
	begun       bool
	extended    time.Time // when the deadline was set; zero if it was not
}

func (a *responseWriter) begin(status int) {
	if !a.begun && status >= http.StatusOK {
		a.begun = true
		a.settle(status)
	}
}

// precision is how much earlier than the idle timeout a deadline may be. A response has at least
// three writes, and setting a deadline for each took 2% of the CPU time of a short request.
const precision = time.Second

func (a *responseWriter) extend() {
	if now := time.Now(); now.Sub(a.extended) >= precision {
		a.extended = now
		_ = a.connection.SetWriteDeadline(now.Add(a.idleTimeout))
	}
}

func (a *responseWriter) WriteHeader(status int) {
	a.begin(status)
	a.extend()
	a.ResponseWriter.WriteHeader(status)
}

func (a *responseWriter) Write(b []byte) (n int, err error) {
	a.begin(http.StatusOK)
	for {
		part := b[n:min(len(b), n+step)]
		a.extend()
		m, err := a.ResponseWriter.Write(part)
		if n += m; err != nil || n == len(b) {
			return n, err
		}
	}
}

// ReadFrom lets the kernel copy a file to the connection, in steps. The kernel path is recognized
// by the type of the reader and one io.LimitedReader around it.
func (a *responseWriter) ReadFrom(from io.Reader) (n int64, err error) {
	a.begin(http.StatusOK)
	limited, ok := from.(*io.LimitedReader)
	if !ok {
		limited = &io.LimitedReader{R: from, N: 1<<63 - 1}
	}
	for limited.N > 0 {
		part := io.LimitedReader{R: limited.R, N: min(limited.N, step)}
		wanted := part.N
		a.extend()
		m, err := io.Copy(a.ResponseWriter, &part)
		n += m
		limited.N -= m
		if err != nil || m < wanted {
			return n, err
		}
	}
	return n, nil
}

// Hijack passes the connection to WebSockets. Compressing writers look for this method, and for
// Flush, by name.
func (a *responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) { return a.connection.Hijack() }

// Flush sends buffered data.
func (a *responseWriter) Flush() {
	a.extend()
	_ = a.connection.Flush()
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (a *responseWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }
