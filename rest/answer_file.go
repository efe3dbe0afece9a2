package rest

import (
	"net/http"
	"reflect"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/rest/wire"
)

// redirect sends the client to the address that the operation answered.
var redirect = answer{write: func(_ *server, w http.ResponseWriter, _ *http.Request, data []byte) error {
	to, err := read[struct{ URL string }](data)
	if err != nil {
		return err
	}
	w.Header().Set("Location", to.URL)
	w.WriteHeader(http.StatusFound)
	return nil
}}

// lookedAt answers HEAD where GET would record a download: it leads to the bytes and records nothing.
var lookedAt = answer{write: func(s *server, w http.ResponseWriter, _ *http.Request, data []byte) error {
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

// fileOrImage answers with a picture as an image summary, and with any other file as what it is.
var fileOrImage = answer{write: func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error {
	f, err := read[*wire.FileSchema](data)
	if err != nil {
		return err
	}
	isPicture := f.Kind == "IMAGE"
	f.Complete(s.URLs)
	if isPicture && f.DefaultImage != nil {
		return writeJSON(w, f.DefaultImage)
	}
	return writeJSON(w, f)
}, schema: reflect.TypeFor[eitherSchema]()}

// eitherSchema stands for one of two shapes.
type eitherSchema struct {
	*wire.FileSchema
	*wire.ImageSummary
}

// images answers with pictures, in the sizes that ?type= and ?size= name, or in all.
var images = func() answer {
	a := body(func(s *server, r *http.Request, data []byte) ([]*wire.ImageSchema, error) {
		object, err := read[map[string][]*wire.Picture](data)
		if err != nil {
			return nil, err
		}
		pictures, err := only(object)
		if err != nil {
			return nil, err
		}
		kind, size := r.URL.Query().Get("type"), r.URL.Query().Get("size")
		shown := make([]*wire.ImageSchema, len(pictures))
		for i, p := range pictures {
			shown[i] = &wire.ImageSchema{ID: p.ID, URL: s.URLs.Base + "/files/" + p.ID.String(), Name: p.Name, Sizes: []wire.ImageSize{}}
			for _, have := range p.AllSizes() {
				if (kind == "" || kind == have.Type) && (size == "" || size == have.Size) {
					shown[i].Sizes = append(shown[i].Sizes, have)
				}
			}
		}
		return shown, nil
	}).as(reflect.TypeFor[[]wire.ImageSchema]())
	a.query = []string{"type", "size"}
	return a
}()

// image answers with one picture.
var image = first("picture", func(s *server, p *wire.Picture) *wire.ImageSummary { return p.Summary(s.URLs) })

// imageInside answers with the picture under the one key of a payload.
var imageInside = body(func(s *server, _ *http.Request, data []byte) (*wire.ImageSummary, error) {
	payload, err := read[map[string]*wire.Picture](data)
	if err != nil {
		return nil, err
	}
	p, err := only(payload)
	if err != nil {
		return nil, err
	}
	return p.Summary(s.URLs), nil
})
