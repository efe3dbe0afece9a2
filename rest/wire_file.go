package rest

import (
	"github.com/meshyard/meshyard/internal/address"
)

// FileSchema is a file on the wire.
type FileSchema struct {
	ID            ID            `json:"id"`
	Name          string        `json:"name"`
	Size          int64         `json:"size"`
	URL           string        `json:"url"`
	PublicURL     string        `json:"public_url"`
	DownloadURL   string        `json:"download_url"`
	ThreejsURL    string        `json:"threejs_url"`
	Thumbnail     string        `json:"thumbnail"`
	DefaultImage  *ImageSummary `json:"default_image"`
	Date          FileTime      `json:"date"`
	FormattedSize string        `json:"formatted_size"`
	MetaData      []any         `json:"meta_data"`
	DownloadCount int64         `json:"download_count"`
	DirectURL     *string       `json:"direct_url"`
	Hash          Hash          `json:"hash"`
	Rank          int           `json:"rank"`

	Kind string `json:"kind,omitempty"` // read only: emptied before it is written
}

func (f *FileSchema) complete(a address.Addresses) {
	f.URL = a.Base + "/files/" + f.ID.String()
	f.DownloadURL = f.URL + "/download"
	f.MetaData = []any{}
	f.Thumbnail = a.Picture(f.Kind)
	if f.Kind == "IMAGE" && f.DirectURL != nil {
		f.Thumbnail = *f.DirectURL
		f.DefaultImage = imageSummary(f)
	}
	f.Kind = ""
}

// ImageSummary is a picture on the wire.
type ImageSummary struct {
	ID    ID          `json:"id"`
	URL   string      `json:"url"`
	Name  string      `json:"name"`
	Sizes []ImageSize `json:"sizes"`
	Added Time        `json:"added"`
}

// ImageSize is one of the sizes in which a picture can be had.
type ImageSize struct {
	Type string `json:"type"`
	Size string `json:"size"`
	URL  string `json:"url"`
}

// imageSizes are the fifteen sizes, in the order in which old clients saw them.
var imageSizes = []struct {
	kind  string
	sizes []string
}{
	{"thumb", []string{"large", "medium", "small", "tiny"}},
	{"preview", []string{"featured", "card", "large", "medium", "small", "birdwing", "tiny", "tinycard"}},
	{"display", []string{"large", "medium", "small"}},
}

func imageSummary(f *FileSchema) *ImageSummary {
	image := &ImageSummary{ID: f.ID, URL: f.URL, Name: f.Name, Added: Time(f.Date)}
	for _, kind := range imageSizes {
		for _, size := range kind.sizes {
			image.Sizes = append(image.Sizes, ImageSize{kind.kind, size, *f.DirectURL})
		}
	}
	return image
}

// uploadSchema is what an upload answers.
type uploadSchema struct {
	File struct{ ID ID }
}

func (u *uploadSchema) wire() any { return map[string]ID{"id": u.File.ID} }

// filesAnswer is the files of a thing.
type filesAnswer struct{ Files []*FileSchema }

func (l *filesAnswer) complete(a address.Addresses) {
	for _, f := range l.Files {
		f.complete(a)
	}
}

func (l *filesAnswer) wire() any { return l.Files }

// formPayload is a form for an upload.
type formPayload struct {
	Upload struct {
		Action string
		Fields []struct{ Name, Value string }
	}
}

func (p *formPayload) wire() any {
	fields := make(map[string]string, len(p.Upload.Fields))
	for _, f := range p.Upload.Fields {
		fields[f.Name] = f.Value
	}
	return map[string]any{"action": p.Upload.Action, "fields": fields}
}
