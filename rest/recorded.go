package rest

import (
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/meshyard/meshyard/internal/etag"
)

// recorded is an answer that is kept until it is complete, because its headers depend on its body.
type recorded struct {
	header http.Header
	status int
	body   []byte
}

// longBody is the size in bytes of the largest body whose memory the next answer can use.
const longBody = 1 << 20

var recordedPool = sync.Pool{New: func() any { return &recorded{header: make(http.Header)} }}

func newRecorded() *recorded {
	a := recordedPool.Get().(*recorded)
	a.status = http.StatusOK
	return a
}

// free lets another answer use the memory of this one.
func (a *recorded) free() {
	if cap(a.body) <= longBody {
		clear(a.header)
		a.body = a.body[:0]
		recordedPool.Put(a)
	}
}

// Header is for writing.
func (a *recorded) Header() http.Header { return a.header }

// WriteHeader keeps the status.
func (a *recorded) WriteHeader(status int) { a.status = status }

// Write keeps some of the body.
func (a *recorded) Write(b []byte) (int, error) {
	a.body = append(a.body, b...)
	return len(b), nil
}

// send sends the answer. One that succeeded carries a tag of its content, and is not sent again to
// anyone who has it.
func (a *recorded) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	announced := h.Values("Link")
	maps.Copy(h, a.header)
	if len(announced) > 0 {
		// One header, and the pages of a list first: there are clients that look no further.
		h.Set("Link", strings.Join(append(a.header.Values("Link"), announced...), ", "))
	}
	if a.status == http.StatusOK {
		tag := etag.Of(a.body)
		h.Set("ETag", tag)
		h.Set("Cache-Control", "private, no-cache")
		h.Add("Vary", "Authorization")
		if etag.Matches(r, tag) {
			h.Del("Content-Type")
			h.Del("Content-Length")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that is gone reads no error
}
