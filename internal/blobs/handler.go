// Package blobs serves the bytes of files, to anybody for what is published and to whoever holds a signed address for the rest.
package blobs

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
)

// Blob is what is known of the bytes of a file.
type Blob struct {
	Key         string // in the bucket
	Name        string
	ContentType string
	SHA256      string // hex
}

// Handler answers /download:{id} and /blobs/{id}/{name}.
type Handler struct {
	// Find gives the bytes of a file. Unless signed, only of one that everybody may have.
	Find func(ctx context.Context, fileID int64, signed bool) (Blob, error)
	// Signed tells whether an address with this query was handed out and still holds.
	Signed func(fileID int64, query url.Values, now time.Time) bool
	// Serve answers with an object; bucket.ErrNotExist says that it has answered nothing.
	Serve func(w http.ResponseWriter, r *http.Request, key string) error
	// Fail answers with an error.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
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
	dropUnknownRange(r.Header)
	signed := !anonymous && h.Signed(id, r.URL.Query(), time.Now())
	for again := false; ; again = true {
		blob, err := h.Find(r.Context(), id, signed)
		if err != nil {
			h.Fail(w, r, err)
			return
		}
		describe(w.Header(), blob, signed)
		err = h.Serve(w, r, blob.Key)
		if err == nil {
			return
		}
		// A pending upload that is finalized right now has just left its place.
		if !errors.Is(err, bucket.ErrNotExist) || again {
			clear(w.Header())
			h.Fail(w, r, err)
			return
		}
	}
}

// dropUnknownRange leaves of Range what counts in bytes: RFC 9110 section 14.2 wants other units ignored, and net/http refuses them.
func dropUnknownRange(header http.Header) {
	if unit, ranges, ok := strings.Cut(header.Get("Range"), "="); ok && strings.EqualFold(unit, "bytes") {
		header.Set("Range", "bytes="+ranges)
	} else {
		header.Del("Range")
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
	header.Set("ETag", `"`+blob.SHA256+`"`)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if signed {
		header.Set("Cache-Control", "private, max-age=300")
	} else {
		header.Set("Cache-Control", "public, max-age=3600")
	}
}
