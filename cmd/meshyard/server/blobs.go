package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/blobs"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/rest"
)

// blobs returns the handler of the bytes of files.
func (a *Server) blobs(addresses urls.Builder) blobs.Handler {
	h := blobs.Handler{
		Find: func(r *http.Request, id int64, by blobs.Address) (blobs.Blob, error) {
			f, key, err := a.Store.Blob(r.Context(), id, signatureOf(by), auth.OpenedOf(r.Context()))
			if err != nil {
				return blobs.Blob{}, explainInvalidSignature(err, by)
			}
			return blobs.Blob{Key: key, Name: f.Name, ContentType: f.ContentType, ETag: f.ETag()}, nil
		},
		Signed: addresses.Verified,
		Serve:  blobs.Serve(a.bucket),
		Fail: func(w http.ResponseWriter, r *http.Request, err error) {
			if errors.Is(err, bucket.ErrChanged) { // the REST API has 400 for all other conflicts
				rest.WriteError(w, http.StatusConflict, changedInLibrary)
				return
			}
			rest.WriteFailure(w, r, a.explainLost(r.Context(), err))
		},
		Status:  func(w http.ResponseWriter, status int, message string) { rest.WriteError(w, status, message) },
		Missing: missing,
	}
	if !a.Settings.AnonymousRead {
		h.Permit = func(r *http.Request, by blobs.Address) error { return explainInvalidSignature(a.mayRead(r), by) }
	}
	return h
}

const changedInLibrary = "this file has changed in its library: it can be downloaded after the next scan"

// explainLost returns err or, if the content of a file is missing from the bucket, an error for the
// client. It logs the key of the object for the operator.
func (a *Server) explainLost(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, bucket.ErrChanged):
		return &models.Error{Code: models.Conflict, Message: changedInLibrary}
	case errors.Is(err, bucket.ErrUnreadable):
		a.Logger.ErrorContext(ctx, "a file of a library cannot be read", "error", err.Error())
		return &models.Error{Code: models.NotFound, Message: "the server has no permission to read this file in its library"}
	case !errors.Is(err, bucket.ErrNotExist):
		return err
	}
	a.Logger.ErrorContext(ctx, "the content of a file is missing from the bucket", "error", err.Error())
	return &models.Error{Code: models.NotFound,
		Message: "the content of this file is missing from the storage of the server"}
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
