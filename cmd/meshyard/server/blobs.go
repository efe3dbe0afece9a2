package server

import (
	"net/http"

	"github.com/meshyard/meshyard/internal/blobs"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/rest"
)

// blobs returns the handler of the bytes of files.
func (a *Server) blobs(addresses urls.Builder) blobs.Handler {
	h := blobs.Handler{
		Find: func(r *http.Request, id int64, by blobs.Address) (blobs.Blob, error) {
			f, key, err := a.Store.Blob(r.Context(), id, signatureOf(by))
			if err != nil {
				return blobs.Blob{}, explainInvalidSignature(err, by)
			}
			return blobs.Blob{Key: key, Name: f.Name, ContentType: f.ContentType, ETag: f.SHA256}, nil
		},
		Signed:  addresses.Verified,
		Serve:   blobs.Serve(a.bucket),
		Fail:    rest.WriteFailure,
		Status:  func(w http.ResponseWriter, status int, message string) { rest.WriteError(w, status, message) },
		Missing: missing,
	}
	if !a.Settings.AnonymousRead {
		h.Permit = func(r *http.Request, by blobs.Address) error { return explainInvalidSignature(a.mayRead(r), by) }
	}
	return h
}

// signatureOf returns what a kind of URL permits.
func signatureOf(by blobs.Address) models.Signature {
	switch by {
	case blobs.Signed:
		return models.Signed
	case blobs.SignedTakenDown:
		return models.SignedTakenDown
	}
	return models.Unsigned
}

// explainInvalidSignature returns err, or a more specific message if the request used a signed URL
// that is no longer valid.
func explainInvalidSignature(err error, by blobs.Address) error {
	if code := models.CodeOf(err); by == blobs.Stale && (code == models.Forbidden || code == models.Unauthenticated) {
		return &models.Error{Code: models.Forbidden, Message: "the URL has expired or its signature is invalid"}
	}
	return err
}
