package blobs

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/httpserver/etag"
)

// Serve returns a function that responds to a GET or HEAD request for the object at key. The caller
// sets the headers that describe the content (ETag, Content-Type, Content-Disposition,
// Cache-Control and others) on w beforehand.
//
// An object in a directory is sent by this process, with sendfile where w allows it; range and
// conditional requests are supported. For an object in S3 the response is a redirect (302,
// no-store) to a presigned URL that carries the same Content-Type, Content-Disposition and
// Cache-Control. This process responds to HEAD itself, and to GET whose If-None-Match contains the
// ETag.
//
// If there is no such object, the function writes nothing and returns an error that matches
// bucket.ErrNotExist. It reports no errors after the first byte.
func Serve(b *bucket.Bucket) func(w http.ResponseWriter, r *http.Request, key string) error {
	return func(w http.ResponseWriter, r *http.Request, key string) error {
		if err := serve(b, w, r, key); err != nil {
			return fmt.Errorf("serve %s: %w", key, err)
		}
		return nil
	}
}

func serve(b *bucket.Bucket, w http.ResponseWriter, r *http.Request, key string) error {
	h := w.Header()
	url, presigned, err := b.PresignGet(r.Context(), key, bucket.ResponseHeaders{
		ContentType:        h.Get("Content-Type"),
		ContentDisposition: h.Get("Content-Disposition"),
		CacheControl:       h.Get("Cache-Control"),
	})
	if err != nil {
		return err
	}
	if !presigned {
		content, o, err := b.Reader(r.Context(), key)
		if err != nil {
			return err
		}
		defer content.Close()
		http.ServeContent(w, r, "", o.ModTime, content) // content is an *os.File, which sendfile needs
		return nil
	}
	// This costs one HEAD request: S3 responds to a presigned URL of a missing object with 404.
	o, err := b.Stat(r.Context(), key)
	if err != nil {
		return err
	}
	if tag := h.Get("ETag"); tag != "" && etag.Matches(r, tag) {
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if r.Method == http.MethodHead { // S3 rejects HEAD on a URL that is presigned for GET
		h.Set("Accept-Ranges", "bytes")
		h.Set("Content-Length", strconv.FormatInt(o.Size, 10))
		h.Set("Last-Modified", o.ModTime.UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusOK)
		return nil
	}
	for _, name := range []string{"Content-Type", "Content-Disposition", "ETag"} {
		h.Del(name) // they describe the object, not this redirect
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Location", url)
	w.WriteHeader(http.StatusFound)
	return nil
}
