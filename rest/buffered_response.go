package rest

import (
	"bytes"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/meshyard/meshyard/internal/httpserver/etag"
)

// bufferedResponse buffers a response until it is complete, because its headers depend on its body.
type bufferedResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// longBody is the capacity in bytes of the largest body buffer that is reused.
const longBody = 1 << 20

var bufferedPool = sync.Pool{New: func() any { return &bufferedResponse{header: make(http.Header)} }}

func newBufferedResponse() *bufferedResponse {
	a := bufferedPool.Get().(*bufferedResponse)
	a.status = http.StatusOK
	return a
}

// free returns the response to the pool unless its body is larger than longBody. The response must
// not be used afterwards.
func (a *bufferedResponse) free() {
	if a.body.Cap() <= longBody {
		clear(a.header)
		a.body.Reset()
		bufferedPool.Put(a)
	}
}

// Header implements http.ResponseWriter.
func (a *bufferedResponse) Header() http.Header { return a.header }

// WriteHeader stores the status.
func (a *bufferedResponse) WriteHeader(status int) { a.status = status }

// Write appends to the buffered body.
func (a *bufferedResponse) Write(b []byte) (int, error) {
	return a.body.Write(b)
}

// send sends the response. A response with status 200 gets an ETag, and is replaced by a 304 if the
// client already has that version.
func (a *bufferedResponse) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	announced := h.Values("Link")
	maps.Copy(h, a.header)
	if len(announced) > 0 {
		// Send a single Link header with the page links first: some clients read nothing else.
		h.Set("Link", strings.Join(append(a.header.Values("Link"), announced...), ", "))
	}
	if a.status == http.StatusOK {
		tag := etag.Of(a.body.Bytes())
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
	_, _ = w.Write(a.body.Bytes()) // a disconnected client needs no error
}
