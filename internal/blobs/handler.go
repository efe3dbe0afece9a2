// Package blobs serves the bytes of files, to anybody for what is published and to whoever holds a signed address for the rest.
package blobs

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/courtesy"
)

// Blob is what is known of the bytes of a file.
type Blob struct {
	Key         string // in the bucket
	Name        string
	ContentType string
	ETag        string // with no quotes
	Fixed       bool   // whether there will never be anything else at the address
}

// Address is what an address says of who holds it.
type Address int

// The kinds of addresses.
const (
	Plain  Address = iota // anybody's
	Signed                // one that was handed out, and holds
	Stale                 // one that looks handed out, and has ended or was altered: it gives what a plain one gives
)

// Handler answers /download:{id} and /blobs/{id}/{name}, and what else there is of files by their ids.
type Handler struct {
	// Find gives what a request asks for of a file, to whoever may have it by an address of that kind.
	Find func(r *http.Request, fileID int64, by Address) (Blob, error)
	// Signed tells whether an address with this query was handed out and still holds.
	Signed func(fileID int64, query url.Values, now time.Time) bool
	// Serve answers with an object. An error says that it has answered nothing, bucket.ErrNotExist that there is no such object.
	Serve func(w http.ResponseWriter, r *http.Request, key string) error
	// Fail answers with an error.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
	// Status answers with a failure that Serve ran into, such as 416 or 412. Without it the answers of Serve pass as they are.
	Status func(w http.ResponseWriter, status int, message string)
	// Missing answers that there is nothing at a path that names no file.
	Missing func(w http.ResponseWriter)
}

// DownloadPrefix begins the anonymous addresses, whose last segment the mux cannot take apart.
const DownloadPrefix = "/download:"

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	digits, anonymous := strings.CutPrefix(r.URL.Path, DownloadPrefix)
	if !anonymous {
		digits = r.PathValue("file_id")
	}
	id, err := strconv.ParseInt(strings.TrimSuffix(digits, "/"), 10, 64)
	if err != nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Missing(w)
		return
	}
	tidyRange(r.Header)
	query, now := r.URL.Query(), time.Now()
	by := Plain
	switch {
	case anonymous:
	case h.Signed(id, query, now):
		by = Signed
	case query.Has("expires"), query.Has("signature"):
		by = Stale
	}
	a := &answer{ResponseWriter: w, before: w.Header().Clone(), fail: h.Status}
	for again := false; ; again = true {
		blob, err := h.Find(r, id, by)
		if err != nil {
			h.Fail(w, r, err)
			return
		}
		describe(w.Header(), blob, by == Signed)
		courtesy.Leave(r.Context())
		err = h.Serve(a, r, blob.Key)
		if err == nil {
			return
		}
		a.reset()
		// A pending upload that is finalized right now has just left its place.
		if !errors.Is(err, bucket.ErrNotExist) || again {
			h.Fail(w, r, err)
			return
		}
	}
}

// describe sets the headers under which bytes of strangers are harmless: the browser neither guesses a type nor runs
// anything, and shows in place only what is a picture.
func describe(header http.Header, blob Blob, signed bool) {
	disposition, contentType := "attachment", blob.ContentType
	switch base, _, _ := strings.Cut(blob.ContentType, ";"); {
	case base == "image/png" || base == "image/jpeg" || base == "image/gif":
		disposition = "inline"
	case strings.Contains(base, "html"), strings.Contains(base, "xml"), strings.Contains(base, "svg"), strings.Contains(base, "script"):
		contentType = "application/octet-stream"
	}
	header.Set("Content-Type", contentType)
	header.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": blob.Name}))
	header.Set("ETag", `"`+blob.ETag+`"`)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	switch {
	case signed && blob.Fixed:
		header.Set("Cache-Control", "private, max-age=3600, immutable")
	case signed:
		header.Set("Cache-Control", "private, max-age=300")
	case blob.Fixed:
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	default:
		header.Set("Cache-Control", "public, max-age=3600")
	}
}
