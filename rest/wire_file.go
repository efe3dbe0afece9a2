package rest

import (
	"encoding/json"

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
		p := picture{ID: f.ID, Name: f.Name, DirectURL: *f.DirectURL, Added: Time(f.Date)}
		f.Thumbnail, f.DefaultImage = p.DirectURL, p.summary(a)
	}
	f.Kind = ""
}

// picture is what is read of a picture.
type picture struct {
	ID        ID     `json:"id"`
	Name      string `json:"name"`
	DirectURL string `json:"direct_url"`
	Added     Time   `json:"added"`
}

func (p *picture) sizes() []ImageSize {
	var all []ImageSize
	for _, kind := range imageSizes {
		for _, size := range kind.sizes {
			all = append(all, ImageSize{kind.kind, size, p.DirectURL})
		}
	}
	return all
}

func (p *picture) summary(a address.Addresses) *ImageSummary {
	return &ImageSummary{ID: p.ID, URL: a.Base + "/files/" + p.ID.String(), Name: p.Name, Sizes: p.sizes(), Added: p.Added}
}

// thumbnail is the address of a picture, or of the one that stands for a kind of which there is none.
func (p *picture) thumbnail(a address.Addresses, kind string) string {
	if p == nil {
		return a.Picture(kind)
	}
	return p.DirectURL
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
