package httptimeout

import (
	"net/http"
	"time"
)

const (
	// grace is how long an answer waits for what is left of a body that nobody wants, and how long the connection stays for the answer to be read.
	grace = 500 * time.Millisecond
	// remainder is how many bytes may be left of such a body for the connection to be kept.
	remainder = 16 << 10
)

// settle decides what becomes of a body that was not read to its end when the answer begins. The server would wait for it without end, before the answer and after
// it. A short one is worth waiting for, a little, for the connection is kept then; any other ends with the answer, so that no refusal waits for what it refuses.
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
