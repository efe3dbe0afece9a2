package server

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/blobs"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/precompressed"
	"github.com/meshyard/meshyard/internal/thumbnail/placeholder"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/rest"
)

// renditions serves what is derived from files, on the same terms as their bytes.
func (a *Server) renditions(bytes blobs.Handler) http.Handler {
	bytes.Find = func(r *http.Request, id int64, by blobs.Address) (blobs.Blob, error) {
		tag, name := r.PathValue("tag"), r.PathValue("name")
		part, key, err := a.Store.Derived(r.Context(), id, by == blobs.Signed, tag, name)
		if err != nil {
			return blobs.Blob{}, refused(err, by)
		}
		return blobs.Blob{Key: key, Name: part.Name, ContentType: part.ContentType, ETag: tag + "-" + part.Name, Fixed: true}, nil
	}
	// Not by a redirect to S3: pages of this server may load from this server alone.
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

// remakeWait is after how many seconds a client may ask again for a rendition that is being made.
const remakeWait = 5

// missingRendition answers where a rendition cannot be served. One whose object is gone is asked
// for again; meanwhile the default image stands for images, and others are unavailable.
func (a *Server) missingRendition(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, bucket.ErrNotExist) {
		id, _ := strconv.ParseInt(r.PathValue("file_id"), 10, 64) // blobs.Handler has parsed it
		err = a.Store.RemakeDerived(r.Context(), id, r.PathValue("tag"))
	}
	if !errors.Is(err, models.ErrBeingMade) {
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
	w.Header().Set("Retry-After", strconv.Itoa(remakeWait))
	rest.WriteError(w, http.StatusServiceUnavailable, "the preview is being made: ask again in a few seconds")
}
