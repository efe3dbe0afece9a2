package rest

import (
	"encoding/json"

	"github.com/meshyard/meshyard/internal/thumbnail"
	"github.com/meshyard/meshyard/internal/urls"
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

	// Read only: emptied before they are written.
	Kind      string     `json:"kind,omitempty"`
	Rendering *rendering `json:"rendering,omitempty"`
}

func (f *FileSchema) complete(a urls.Builder) {
	f.URL = a.Base + "/files/" + f.ID.String()
	f.DownloadURL = f.URL + "/download"
	f.MetaData = []any{}
	p := &picture{ID: f.ID, Name: f.Name, Kind: f.Kind, DirectURL: f.DirectURL, Rendering: f.Rendering, Added: Time(f.Date)}
	f.Thumbnail = p.thumbnail(a, f.Kind)
	if p.seen() {
		f.DefaultImage = p.summary(a)
	}
	f.Kind, f.Rendering = "", nil
}

// rendering is where a file is to be seen, in some size.
type rendering struct {
	URL string `json:"url"`
}

// picture is what is read of a picture, or of a model that is seen in a rendering.
type picture struct {
	ID        ID         `json:"id"`
	Name      string     `json:"name"`
	Kind      string     `json:"kind"`
	DirectURL *string    `json:"direct_url"`
	Rendering *rendering `json:"rendering"`
	Added     Time       `json:"added"`
}

// seen tells whether there is anything to see.
func (p *picture) seen() bool {
	return p != nil && (p.Rendering != nil || p.Kind == "IMAGE" && p.DirectURL != nil)
}

// in is the address of the picture in a size. One that is not cut yet is shown as it was uploaded.
func (p *picture) in(size string) string {
	if p.Rendering == nil {
		return *p.DirectURL
	}
	return urls.Sized(p.Rendering.URL, size)
}

func (p *picture) sizes() []ImageSize {
	all := []ImageSize{}
	if p.seen() {
		for _, size := range thumbnail.Sizes {
			all = append(all, ImageSize{size.Kind, size.Name, p.in(size.String())})
		}
	}
	return all
}

func (p *picture) summary(a urls.Builder) *ImageSummary {
	return &ImageSummary{ID: p.ID, URL: a.Base + "/files/" + p.ID.String(), Name: p.Name, Sizes: p.sizes(), Added: p.Added}
}

// thumbnail is the address of a picture, or of the one that stands for a kind of which there is none.
func (p *picture) thumbnail(a urls.Builder, kind string) string {
	return p.shown(a, kind, "thumb_large")
}

// preview is the address of a picture that is larger than a thumbnail.
func (p *picture) preview(a urls.Builder, kind string) string {
	return p.shown(a, kind, "preview_large")
}

func (p *picture) shown(a urls.Builder, kind, size string) string {
	if !p.seen() {
		return a.Picture(kind)
	}
	return p.in(size)
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

// ImageSchema is a picture in a list of pictures.
type ImageSchema struct {
	ID    ID          `json:"id"`
	URL   string      `json:"url"`
	Name  string      `json:"name"`
	Sizes []ImageSize `json:"sizes"`
}

// IDSchema is what an upload answers.
type IDSchema struct {
	ID ID `json:"id"`
}

// FormSchema is a form for an upload: where to post it, and its fields.
type FormSchema struct {
	Action string     `json:"action"`
	Fields FormFields `json:"fields"`
}

// FormFields is a list of fields in GraphQL and an object on the wire.
type FormFields struct {
	AWSAccessKeyID     string `json:"AWSAccessKeyId"`
	Bucket             string `json:"bucket"`
	Key                string `json:"key"`
	ACL                string `json:"acl"`
	Redirect           string `json:"success_action_redirect"`
	Policy             string `json:"policy"`
	Signature          string `json:"signature"`
	ContentType        string `json:"Content-Type"`
	ContentDisposition string `json:"Content-Disposition"`
}

// UnmarshalJSON reads the list.
func (f *FormFields) UnmarshalJSON(b []byte) error {
	var list []struct{ Name, Value string }
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	fields := make(map[string]string, len(list))
	for _, field := range list {
		fields[field.Name] = field.Value
	}
	object, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	type plain FormFields // without this method
	return json.Unmarshal(object, (*plain)(f))
}
