package server

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/blobs"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/openin"
)

// forPrograms returns the handler of the content of files for programs. A GET request counts as a
// download, but only once for each URL: programs repeat requests, and ask for parts of a file.
func (a *Server) forPrograms(bytes blobs.Handler, addresses urls.Builder) http.Handler {
	bytes.Permit = nil
	bytes.Signed = func(int64, url.Values, time.Time) (signed, takenDown bool) { return true, false }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o, ok := addresses.Opened(r.PathValue("token"), time.Now())
		if !ok {
			bytes.Fail(w, r, &models.Error{Code: apierror.NotFound,
				Message: "the link has expired or is not valid: choose the program again on the page of the file"})
			return
		}
		one := bytes
		one.Find = func(r *http.Request, _ int64, _ blobs.Address) (blobs.Blob, error) {
			f, key, err := a.Store.OpenIn.Content(r.Context(), openin.URL(o), r.Method == http.MethodGet)
			if err != nil {
				return blobs.Blob{}, err
			}
			return blobs.Blob{Key: key, Name: f.Name, ContentType: f.ContentType, ETag: f.SHA256}, nil
		}
		r.SetPathValue("file_id", strconv.FormatInt(o.FileID, 10))
		one.ServeHTTP(w, r)
	})
}
