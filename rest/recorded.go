package rest

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"strings"
)

// recorded is an answer that is kept until it is complete, because its headers depend on its body.
type recorded struct {
	header http.Header
	status int
	body   []byte
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
		sum := sha256.Sum256(a.body)
		tag := `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
		h.Set("ETag", tag)
		h.Set("Cache-Control", "private, no-cache")
		h.Add("Vary", "Authorization")
		if matches(r.Header.Values("If-None-Match"), tag) {
			h.Del("Content-Type")
			h.Del("Content-Length")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that is gone reads no error
}

// matches reports whether If-None-Match names a tag, by the weak comparison of RFC 9110, section
// 8.8.3.2.
func matches(given []string, tag string) bool {
	for candidate := range strings.SplitSeq(strings.Join(given, ","), ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
