package httptimeout

import (
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	// grace is how long a response waits for the rest of an unread body, and how long the
	// connection stays open so that the client can read the response.
	grace = 500 * time.Millisecond
	// remainder is the maximum number of unread bytes for which the connection is kept open.
	remainder = 16 << 10
)

// settle decides what happens to a body that has not been read to its end when the response starts.
// The server would wait for the rest without limit. It is worth waiting for a short rest, because
// the connection can then be reused. Otherwise the connection closes with the response, so that a
// rejection does not wait for the body it rejects.
func (a *responseWriter) settle(status int) {
	b := a.body
	if b == nil || b.ended.Load() {
		return
	}
	left := b.declared - b.read.Load()
	known := b.declared >= 0 && (b.invited || b.read.Load() > 0)
	refused := left > remainder || !known && status >= http.StatusBadRequest
	if refused {
		a.Header().Set("Connection", "close")
	}
	if b.closing || refused && !b.invited {
		lingerAfter(a.ResponseWriter)
	}
	_ = a.connection.SetReadDeadline(time.Now().Add(grace))
}

// lingerAfter makes the server of w close only its own side of the connection after the response,
// and the connection itself half a second later. Otherwise the bytes of an unread body would reset
// the connection, and a client that is still sending them would lose the response. The server does
// this by itself for an unread body, but not if the request has Expect: 100-continue or asks to
// close the connection, as old clients do. It also does this for every request whose body exceeds a
// limit, so this reads more than a limit of 0 bytes.
func lingerAfter(w http.ResponseWriter) {
	for {
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		w = wrapper.Unwrap()
	}
	_, _ = http.MaxBytesReader(w, io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
}
