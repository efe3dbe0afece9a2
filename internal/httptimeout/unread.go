package httptimeout

import (
	"net/http"
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
func (a *answer) settle(status int) {
	b := a.body
	if b == nil || b.ended.Load() {
		return
	}
	left := b.declared - b.read.Load()
	known := b.declared >= 0 && (b.invited || b.read.Load() > 0)
	if left > remainder || !known && status >= http.StatusBadRequest {
		a.Header().Set("Connection", "close")
	}
	_ = a.connection.SetReadDeadline(time.Now().Add(grace))
}
