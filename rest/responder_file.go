package rest

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/rest/wire"
)

// redirect sends the client to the URL that the operation returned.
var redirect = responder{write: func(_ *server, w http.ResponseWriter, _ *http.Request, data []byte) error {
	to, err := read[struct{ URL string }](data)
	if err != nil {
		return err
	}
	w.Header().Set("Location", to.URL)
	w.WriteHeader(http.StatusFound)
	return nil
}}

// headRedirect is the response to HEAD where GET would record a download: it redirects to the file
// and records nothing.
var headRedirect = responder{write: func(s *server, w http.ResponseWriter, _ *http.Request, data []byte) error {
	f, err := read[struct {
		ID                wire.ID
		State             string
		Direct, Anonymous string
	}](data)
	if err != nil {
		return err
	}
	if f.State != "FINALIZED" {
		return apierror.New(apierror.NotFound, "file %s is a pending upload: it can be downloaded once it is finalized", f.ID)
	}
	if f.Direct == "" {
		f.Direct = f.Anonymous
	}
	w.Header().Set("Location", f.Direct)
	w.WriteHeader(http.StatusFound)
	return nil
}}

// fileOrImage responds with an image summary if the file is an image, and with the file otherwise.
var fileOrImage = responder{write: func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error {
	payload, err := read[struct{ File *wire.FileSchema }](data)
	if err != nil {
		return err
	}
	f := payload.File
	isImage := f.Kind == "IMAGE"
	f.Complete(s.URLs)
	if isImage && f.DefaultImage != nil {
		return writeJSON(w, f.DefaultImage)
	}
	return writeJSON(w, f)
}, schema: reflect.TypeFor[eitherSchema]()}

// eitherSchema declares that a body has one of two schemas.
type eitherSchema struct {
	*wire.FileSchema
	*wire.ImageSummary
}

// images responds with the images of a thing in the sizes selected by ?type= and ?size=, or in all
// sizes. The URL of a public image is the one below the thing, which redirects to the image without
// a token. The URL of an image that is not public is the signed URL of its file.
var images = imageList(func(s *server, r *http.Request, p *wire.MediaImage) *wire.ImageSchema {
	url := p.URL
	if !strings.Contains(url, "?") {
		url = s.URLs.Base + strings.TrimSuffix(r.URL.EscapedPath(), "/") + "/" + p.ID.String()
	}
	return &wire.ImageSchema{ID: p.ID, URL: url, Name: p.Name}
}, func(i *wire.ImageSchema, sizes []wire.ImageSize) { i.Sizes = sizes })

// imageSummaries is like images, but for makes, whose images have no URL below the make.
var imageSummaries = imageList(func(_ *server, _ *http.Request, p *wire.MediaImage) *wire.ImageSummary {
	return p.Summary()
}, func(i *wire.ImageSummary, sizes []wire.ImageSize) { i.Sizes = sizes })

func imageList[T any](as func(s *server, r *http.Request, p *wire.MediaImage) *T,
	setSizes func(image *T, sizes []wire.ImageSize)) responder {
	a := whole(func(s *server, r *http.Request, data []byte) ([]*T, error) {
		of, err := read[struct{ Images []*wire.MediaImage }](data)
		if err != nil {
			return nil, err
		}
		shown := make([]*T, len(of.Images))
		for i, p := range of.Images {
			shown[i] = as(s, r, p)
			setSizes(shown[i], sizesOf(r, p))
		}
		return shown, nil
	})
	a.query = []string{"type", "size"}
	return a
}

// sizesOf returns the sizes of an image that a request selects.
func sizesOf(r *http.Request, p *wire.MediaImage) []wire.ImageSize {
	kind, size := r.URL.Query().Get("type"), r.URL.Query().Get("size")
	return slices.DeleteFunc(p.AllSizes(), func(have wire.ImageSize) bool {
		return kind != "" && kind != have.Type || size != "" && size != have.Size
	})
}

// image responds with one image in the sizes selected by ?type= and ?size=. Without a token it
// redirects to the file of the image.
var image = func() responder {
	a := first("image", func(r *http.Request, p *wire.MediaImage) *wire.ImageSummary {
		summary := p.Summary()
		summary.Sizes = sizesOf(r, p)
		return summary
	})
	a.query = []string{"type", "size"}
	a.anonymous = func(w http.ResponseWriter, data []byte) error {
		of, err := read[struct{ Images []*wire.MediaImage }](data)
		if err != nil {
			return err
		}
		if len(of.Images) == 0 {
			return apierror.New(apierror.NotFound, "the image does not exist")
		}
		w.Header().Set("Location", of.Images[0].URL)
		w.Header().Set("Cache-Control", "no-cache")
		w.WriteHeader(http.StatusFound)
		return nil
	}
	return a
}()
