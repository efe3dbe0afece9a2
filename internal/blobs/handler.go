// Package blobs serves the bytes of files over HTTP: published files to everyone whose request
// reaches it, other files to the holders of a signed URL.
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
	"github.com/meshyard/meshyard/internal/urls"
)

// Blob describes the bytes of a file.
type Blob struct {
	Key         string // object key in the bucket
	Name        string
	ContentType string
	ETag        string // without quotes
	Fixed       bool   // the content at this URL never changes
}

// Address is the kind of URL that a request used.
type Address int

// The kinds of URLs.
const (
	Plain           Address = iota // unsigned
	Signed                         // with a valid signature
	SignedTakenDown                // with a signature that a takedown of the thing does not end
	Stale                          // with an expired or invalid signature; like an unsigned one
)

// Handler serves /download:{id}, /download:{id}/{name}, /blobs/{file_id}/{name} and the objects
// derived from files. The names are ignored.
type Handler struct {
	// Permit is nil if published files are public. Otherwise it returns an error if a request without
	// a valid signature may read no file, not even one that Find returns for such requests. Then
	// caches that several users share must not keep responses.
	Permit func(r *http.Request, by Address) error
	// Find returns the bytes that are requested. It returns an error if the kind of URL gives
	// no access to the file.
	Find func(r *http.Request, fileID int64, by Address) (Blob, error)
	// Signed reports whether the query contains a valid signature for the file, and whether it is
	// valid while the thing of the file is taken down.
	Signed func(fileID int64, query url.Values, now time.Time) (signed, takenDown bool)
	// Serve sends an object. If it returns an error, it has written nothing; bucket.ErrNotExist
	// means that there is no such object.
	Serve func(w http.ResponseWriter, r *http.Request, key string) error
	// Fail writes an error response.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
	// Status writes the response for a failure status of Serve, such as 416 or 412. If it is nil,
	// the responses of Serve are not changed.
	Status func(w http.ResponseWriter, status int, message string)
	// Missing writes the response for a path that does not name a file.
	Missing func(w http.ResponseWriter)
}

// DownloadPrefix is the prefix of anonymous download URLs. http.ServeMux cannot match the ID after
// the colon.
const DownloadPrefix = "/download:"

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	digits, anonymous := strings.CutPrefix(r.URL.Path, DownloadPrefix)
	if !anonymous {
		digits = r.PathValue("file_id")
	}
	digits, _, _ = strings.Cut(digits, "/") // the name of the file may follow
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Missing(w)
		return
	}
	tidyRange(r.Header)
	query := r.URL.Query()
	signed, takenDown := h.Signed(id, query, time.Now())
	by := Plain
	switch {
	case takenDown:
		by = SignedTakenDown
	case signed:
		by = Signed
	case query.Has("expires"), query.Has("signature"):
		by = Stale
	}
	if h.Permit != nil && (by == Plain || by == Stale) {
		if err := h.Permit(r, by); err != nil {
			h.Fail(w, r, err)
			return
		}
	}
	a := &responseWriter{ResponseWriter: w, before: w.Header().Clone(), fail: h.Status}
	for again := false; ; again = true {
		blob, err := h.Find(r, id, by)
		if err != nil {
			h.Fail(w, r, err)
			return
		}
		describe(w.Header(), blob, h.Permit != nil || by == Signed || by == SignedTakenDown || query.Has(urls.KeyParameter))
		err = h.Serve(a, r, blob.Key)
		if err == nil {
			return
		}
		a.reset()
		// A pending upload that was finalized just now has another key: try again.
		if !errors.Is(err, bucket.ErrNotExist) || again {
			h.Fail(w, r, err)
			return
		}
	}
}

// describe sets headers that make untrusted bytes harmless: the browser neither sniffs the type nor
// runs scripts, and displays only images inline.
//
// A response is private if only the holders of a signature, a key, a session or a token may have
// it.
func describe(header http.Header, blob Blob, private bool) {
	disposition, contentType := "attachment", blob.ContentType
	switch base, _, _ := strings.Cut(blob.ContentType, ";"); {
	case base == "image/png", base == "image/jpeg", base == "image/gif", base == "image/webp", base == "image/avif":
		disposition = "inline"
	case strings.Contains(base, "html"), strings.Contains(base, "xml"), strings.Contains(base, "svg"),
		strings.Contains(base, "script"):
		contentType = "application/octet-stream"
	}
	header.Set("Content-Type", contentType)
	header.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": blob.Name}))
	header.Set("ETag", `"`+blob.ETag+`"`)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	// No response stays in a cache for more than an hour, so a takedown takes effect everywhere within
	// an hour.
	switch {
	case private && blob.Fixed:
		header.Set("Cache-Control", "private, max-age=3600, immutable")
	case private:
		header.Set("Cache-Control", "private, max-age=300")
	case blob.Fixed:
		header.Set("Cache-Control", "public, max-age=3600, must-revalidate")
	default:
		header.Set("Cache-Control", "public, max-age=3600")
	}
}
