package graphqlhttp

import (
	"net/http"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/httpserver/etag"
)

// publicCaching lets browsers and content delivery networks keep a public response for a minute and
// then revalidate it with its ETag.
const publicCaching = "public, max-age=60"

// isPublic reports whether everyone gets the same response to a query sent by GET: the request has
// no credentials. It must also refer to its document by ID, which is possible only for a registered
// or persisted document. So clients cannot fill shared caches with responses to documents that no
// application uses.
func isPublic(r *http.Request, byID bool) bool {
	caller, err := auth.From(r.Context())
	return byID && err == nil && !caller.Known() && r.Header.Get("Authorization") == "" && r.Header.Get("Cookie") == ""
}

// writeCacheable writes the response to a query that was sent by GET, with an ETag. Only a public
// response without errors may be kept by caches that several clients share.
func writeCacheable(w http.ResponseWriter, r *http.Request, body encoded, public bool) {
	h := w.Header()
	for _, name := range []string{"Accept", "Authorization", "Cookie"} {
		h.Add("Vary", name)
	}
	h.Set("Cache-Control", "private, no-cache")
	if public {
		h.Set("Cache-Control", publicCaching)
		h.Del("RateLimit") // of this client
	}
	tag := etag.Of(body.bytes())
	h.Set("ETag", tag)
	if etag.Matches(r, tag) {
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = body.WriteTo(w) // an error means that the client has disconnected
}
