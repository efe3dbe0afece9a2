// Package httptimeout waits for slow clients, and for those that stall not for ever.
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
	// Patience is how long a client may send nothing in the middle of a body, or take nothing of an answer.
	Patience = time.Minute
	// slowest is how many bytes of a body must come in a second, in the mean, once patience is over.
	slowest = 1 << 10
	// step is how much of an answer a client must take within patience.
	step = 256 << 10
)

// Handler ends bodies and answers that stall. Each read and each write has a deadline of its own, patience from when it begins, so an upload and a download may
// take as long as they go on. An answer that is given before the body was read does not wait for it.
func Handler(next http.Handler, patience time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := http.NewResponseController(w)
		a := &answer{ResponseWriter: w, connection: connection, patience: patience}
		if r.Body != nil && r.Body != http.NoBody {
			a.body = &body{
				ReadCloser: r.Body, connection: connection, began: time.Now(), patience: patience,
				declared: r.ContentLength, invited: r.Header.Get("Expect") == "",
			}
			// In a copy: the server looks at its own request to see what became of the body.
			with := *r
			with.Body = a.body
			r = &with
		}
		// Where the connection knows no deadlines there is nothing to be done; the server's own always does.
		next.ServeHTTP(a, r)
		a.begin(http.StatusOK)
		a.extend() // for what the server still writes, which holds no deadline over to the next request
	})
}

// body is one that ends with an error when too little of it comes.
type body struct {
	io.ReadCloser
	connection *http.ResponseController
	began      time.Time
	patience   time.Duration
	declared   int64 // bytes; negative: the client has not said
	invited    bool  // the client did not wait to be asked for it

	read  atomic.Int64
	ended atomic.Bool
}

func (b *body) Read(p []byte) (int, error) {
	deadline := time.Now().Add(b.patience)
	if least := b.began.Add(b.patience + time.Duration(b.read.Load()/slowest)*time.Second); least.Before(deadline) {
		deadline = least
	}
	_ = b.connection.SetReadDeadline(deadline)
	n, err := b.ReadCloser.Read(p)
	b.read.Add(int64(n))
	if errors.Is(err, io.EOF) {
		b.ended.Store(true)
	}
	if err != nil {
		// At the end the server reads ahead, to see when the client goes away: that it sends nothing more is as it should be.
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

// answer is one that ends with an error when too little of it is taken.
type answer struct {
	http.ResponseWriter
	connection *http.ResponseController
	patience   time.Duration
	body       *body // nil: there is none
	begun      bool
}

func (a *answer) begin(status int) {
	if !a.begun && status >= http.StatusOK {
		a.begun = true
		a.settle(status)
	}
}

func (a *answer) extend() { _ = a.connection.SetWriteDeadline(time.Now().Add(a.patience)) }

func (a *answer) WriteHeader(status int) {
	a.begin(status)
	a.extend()
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (n int, err error) {
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

// ReadFrom keeps the way open on which the kernel copies a file to the connection, step by step. It knows the files that it may copy by their type, and below
// one limit.
func (a *answer) ReadFrom(from io.Reader) (n int64, err error) {
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

// Hijack lets WebSockets have the connection. Writers that compress look for this, and for Flush, by name.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) { return a.connection.Hijack() }

// Flush sends what was written so far.
func (a *answer) Flush() {
	a.extend()
	_ = a.connection.Flush()
}

// Unwrap lets http.ResponseController find the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
