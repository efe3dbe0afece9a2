package server

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/blobs"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/image/thumbnail/placeholder"
	"github.com/meshyard/meshyard/internal/web/precompressed"
	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/rest"
)

// renditions serves the renditions of files, with the same access rules as the content of the
// files.
func (a *Server) renditions(bytes blobs.Handler) http.Handler {
	bytes.Find = func(r *http.Request, id int64, by blobs.Address) (blobs.Blob, error) {
		tag, name := r.PathValue("tag"), r.PathValue("name")
		part, key, err := a.Store.Previews.Derived(r.Context(), id, signatureOf(by), auth.OpenedOf(r.Context()), tag, name)
		if err != nil {
			return blobs.Blob{}, explainInvalidSignature(err, by)
		}
		return blobs.Blob{Key: key, Name: part.Name, ContentType: part.ContentType, ETag: tag + "-" + part.Name,
			Fixed: true}, nil
	}
	// Do not redirect to S3: the Content-Security-Policy of the pages allows requests only to this
	// server.
	bytes.Serve = func(w http.ResponseWriter, r *http.Request, key string) error {
		object, _, err := a.bucket.Reader(r.Context(), key)
		if err != nil {
			return err
		}
		defer object.Close()
		if strings.HasSuffix(key, ".gz") {
			return precompressed.Serve(w, r, object)
		}
		http.ServeContent(w, r, "", time.Time{}, object)
		return nil
	}
	bytes.Fail = a.missingRendition
	return bytes
}

// regenerateWait is the value of Retry-After, in seconds, for a rendition that is being generated.
const regenerateWait = 5

// missingRendition writes the response for a rendition that cannot be served. If its object is
// missing, the preview is generated again. Meanwhile the response is the default image for a
// rendering, and 503 for other renditions.
func (a *Server) missingRendition(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, bucket.ErrNotExist) {
		id, _ := strconv.ParseInt(r.PathValue("file_id"), 10, 64) // blobs.Handler has validated it
		err = a.Store.Previews.RegeneratePreview(r.Context(), id, r.PathValue("tag"))
	}
	if !errors.Is(err, previews.ErrGenerating) {
		rest.WriteFailure(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if strings.HasPrefix(r.URL.Path, "/renders/") {
		image := "model.png"
		if strings.Contains(r.PathValue("tag"), "-image-") {
			image = "image.png"
		}
		placeholder.Serve(w, image)
		return
	}
	w.Header().Set("Retry-After", strconv.Itoa(regenerateWait))
	rest.WriteError(w, http.StatusServiceUnavailable, "the preview is being generated: try again in a few seconds")
}
